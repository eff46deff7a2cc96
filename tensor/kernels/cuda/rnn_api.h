#ifndef FIRN_TENSOR_KERNELS_CUDA_RNN_API_H_
#define FIRN_TENSOR_KERNELS_CUDA_RNN_API_H_

// Only rnn.cc and stand-ins include it: it needs CUDA.

#include <cuda_runtime.h>
#include <cudnn.h>

namespace firn::cuda {

// The functions of cuDNN that Firn calls for recurrent layers, and the copies of weights around
// them.
struct RnnApi {
  decltype(&cudaSetDevice) set_device = cudaSetDevice;
  decltype(&cudaMemcpyAsync) copy = cudaMemcpyAsync;
  decltype(&cudaMemsetAsync) fill = cudaMemsetAsync;
  decltype(&cudnnCreate) create = cudnnCreate;
  decltype(&cudnnSetStream) set_stream = cudnnSetStream;
  decltype(&cudnnCreateRNNDescriptor) create_rnn = cudnnCreateRNNDescriptor;
  decltype(&cudnnDestroyRNNDescriptor) destroy_rnn = cudnnDestroyRNNDescriptor;
  decltype(&cudnnSetRNNDescriptor_v8) set_rnn = cudnnSetRNNDescriptor_v8;
  decltype(&cudnnCreateRNNDataDescriptor) create_data = cudnnCreateRNNDataDescriptor;
  decltype(&cudnnDestroyRNNDataDescriptor) destroy_data = cudnnDestroyRNNDataDescriptor;
  decltype(&cudnnSetRNNDataDescriptor) set_data = cudnnSetRNNDataDescriptor;
  decltype(&cudnnCreateTensorDescriptor) create_tensor = cudnnCreateTensorDescriptor;
  decltype(&cudnnDestroyTensorDescriptor) destroy_tensor = cudnnDestroyTensorDescriptor;
  decltype(&cudnnSetTensorNdDescriptor) set_tensor = cudnnSetTensorNdDescriptor;
  decltype(&cudnnGetRNNTempSpaceSizes) temp_sizes = cudnnGetRNNTempSpaceSizes;
  decltype(&cudnnGetRNNWeightSpaceSize) weight_size = cudnnGetRNNWeightSpaceSize;
  decltype(&cudnnGetRNNWeightParams) weight_places = cudnnGetRNNWeightParams;
  decltype(&cudnnRNNForward) forward = cudnnRNNForward;
  decltype(&cudnnRNNBackwardData_v8) backward_data = cudnnRNNBackwardData_v8;
  decltype(&cudnnRNNBackwardWeights_v8) backward_weights = cudnnRNNBackwardWeights_v8;
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_RNN_API_H_

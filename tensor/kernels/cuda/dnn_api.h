#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_API_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_API_H_

// Only the .cc files beside this one and stand-ins include it: it needs CUDA.

#include <cuda_runtime.h>
#include <cudnn.h>

namespace firn::cuda {

// The functions of cuDNN's graph API that Firn calls.
struct DnnApi {
  decltype(&cudaSetDevice) set_device = cudaSetDevice;
  decltype(&cudnnGetVersion) version = cudnnGetVersion;
  decltype(&cudnnGetErrorString) error_string = cudnnGetErrorString;
  decltype(&cudnnGetLastErrorString) last_error = cudnnGetLastErrorString;
  decltype(&cudnnCreate) create = cudnnCreate;
  decltype(&cudnnSetStream) set_stream = cudnnSetStream;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor = cudnnBackendCreateDescriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor = cudnnBackendDestroyDescriptor;
  decltype(&cudnnBackendSetAttribute) set_attribute = cudnnBackendSetAttribute;
  decltype(&cudnnBackendGetAttribute) get_attribute = cudnnBackendGetAttribute;
  decltype(&cudnnBackendFinalize) finalize = cudnnBackendFinalize;
  decltype(&cudnnBackendExecute) execute = cudnnBackendExecute;
};

inline constexpr DnnApi kOwnDnn;

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_API_H_

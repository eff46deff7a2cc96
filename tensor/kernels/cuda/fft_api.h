#ifndef FIRN_TENSOR_KERNELS_CUDA_FFT_API_H_
#define FIRN_TENSOR_KERNELS_CUDA_FFT_API_H_

// Only fft.cc and stand-ins include it: it needs CUDA.

#include <cuda_runtime.h>
#include <cufftXt.h>

namespace firn::cuda {

// The functions of cuFFT that Firn calls.
struct FftApi {
  decltype(&cudaSetDevice) set_device = cudaSetDevice;
  decltype(&cufftCreate) create = cufftCreate;
  decltype(&cufftDestroy) destroy = cufftDestroy;
  decltype(&cufftSetAutoAllocation) set_auto_allocation = cufftSetAutoAllocation;
  decltype(&cufftXtMakePlanMany) make_plan_many = cufftXtMakePlanMany;
  decltype(&cufftSetStream) set_stream = cufftSetStream;
  decltype(&cufftSetWorkArea) set_work_area = cufftSetWorkArea;
  decltype(&cufftXtExec) exec = cufftXtExec;
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_FFT_API_H_

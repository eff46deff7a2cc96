#include "tensor/kernels/cuda/extreme.cuh"

namespace firn::amin_cuda {

FIRN_REGISTER_KERNELS(amin) { return cuda::ReductionKernels(cuda::RunExtreme<false>); }

}  // namespace firn::amin_cuda

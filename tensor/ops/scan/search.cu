#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/scan/search_body.h"

namespace firn::search_cuda {

FIRN_REGISTER_KERNELS(searchsorted) { return cuda::Portable<SearchsortedKernel>(); }

}  // namespace firn::search_cuda

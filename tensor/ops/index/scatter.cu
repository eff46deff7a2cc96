#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/index/scatter_body.h"

namespace firn::scatter_cuda {

FIRN_REGISTER_KERNELS(scatter) { return cuda::Portable<ScatterKernel>(); }
FIRN_REGISTER_KERNELS(scatter_reduce) { return cuda::Portable<ScatterReduceKernel>(); }

}  // namespace firn::scatter_cuda

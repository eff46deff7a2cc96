#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/shape/diagonal_body.h"

namespace firn::diagonal_cuda {

FIRN_REGISTER_KERNELS(tril) { return cuda::Portable<TriangleKernel<false>>(); }
FIRN_REGISTER_KERNELS(triu) { return cuda::Portable<TriangleKernel<true>>(); }
FIRN_REGISTER_KERNELS(diag_embed) { return cuda::Portable<DiagEmbedKernel>(); }

}  // namespace firn::diagonal_cuda

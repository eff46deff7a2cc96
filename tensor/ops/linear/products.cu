#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/linear/products_body.h"

namespace firn::products_cuda {

FIRN_REGISTER_KERNELS(kron_matrices) { return cuda::Portable<KronKernel>(); }
FIRN_REGISTER_KERNELS(cross_vectors) { return cuda::Portable<CrossKernel>(); }

}  // namespace firn::products_cuda

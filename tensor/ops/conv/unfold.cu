#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/conv/unfold_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(unfold) { return cuda::Portable<UnfoldKernel>(); }
FIRN_REGISTER_KERNELS(fold) { return cuda::Portable<FoldKernel>(); }

}  // namespace firn

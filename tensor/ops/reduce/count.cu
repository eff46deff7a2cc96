#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/reduce/count_fn.h"

namespace firn::count_cuda {

FIRN_REGISTER_KERNELS(histc_part) { return cuda::FloatKernels<HistcPartFn, 3>(); }

}  // namespace firn::count_cuda

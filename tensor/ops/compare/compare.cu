#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/compare/compare_fn.h"

namespace firn::compare_cuda {

FIRN_REGISTER_KERNELS(eq) { return cuda::PredicateKernels<EqFn, 2>(); }

FIRN_REGISTER_KERNELS(ne) { return cuda::PredicateKernels<NeFn, 2>(); }

FIRN_REGISTER_KERNELS(lt) { return cuda::PredicateKernels<LtFn, 2>(); }

FIRN_REGISTER_KERNELS(le) { return cuda::PredicateKernels<LeFn, 2>(); }

FIRN_REGISTER_KERNELS(gt) { return cuda::PredicateKernels<GtFn, 2>(); }

FIRN_REGISTER_KERNELS(ge) { return cuda::PredicateKernels<GeFn, 2>(); }

}  // namespace firn::compare_cuda

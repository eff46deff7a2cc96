#include "firn/tensor/kernels/cuda/optimizer_step.cuh"
#include "firn/tensor/ops/optimizer/adam_family_fn.h"

namespace firn::adam_family_cuda {

FIRN_REGISTER_KERNELS(adamax_step) { return cuda::OptimizerKernels<AdamaxRule>(); }
FIRN_REGISTER_KERNELS(nadam_step) { return cuda::OptimizerKernels<NadamRule>(); }
FIRN_REGISTER_KERNELS(radam_step) { return cuda::OptimizerKernels<RadamRule>(); }
FIRN_REGISTER_KERNELS(adabelief_step) { return cuda::OptimizerKernels<AdabeliefRule>(); }
FIRN_REGISTER_KERNELS(adabound_step) { return cuda::OptimizerKernels<AdaboundRule>(); }

}  // namespace firn::adam_family_cuda

// In builds without CUDA there is nobody to ask.
#include "tests/device/cudnn_planner.h"

namespace firn {

bool CudnnPlans() { return false; }
std::string WhyCudnnRefuses(const cuda::DnnAttentionCall&, int) { return "built without CUDA"; }

}  // namespace firn

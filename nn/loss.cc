// Losses as layers: what their descriptions share.

#include "firn/nn/loss.h"

namespace firn::nn {

const char* Name(Reduction reduction) {
  constexpr const char* kNames[] = {"none", "mean", "sum", "batch_mean"};
  return kNames[static_cast<int>(reduction)];
}

}  // namespace firn::nn

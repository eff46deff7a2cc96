// Channels are dropped in [n, c, ...]; inputs without a batch get one of size 1.

#include "firn/nn/dropout.h"

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::nn::internal {

Tensor DropChannels(const char* layer, const Tensor& x, int dims, double p, bool training) {
  const std::string where = absl::StrCat("nn::", layer);
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), where);
  const int rank = x.rank();
  if (rank != dims + 1 && rank != dims + 2) {
    RaiseStatus(InvalidArgument("wants ", dims + 1, " or ", dims + 2, " dimensions, x is ",
                                x.shape().ToString()),
                where);
  }
  // PyTorch's Dropout2d takes three dimensions for [n, c, l].
  if (rank == dims + 2 || dims == 2) return FeatureDropout(x, p, training);
  return Squeeze(FeatureDropout(Unsqueeze(x, 0), p, training), 0);
}

}  // namespace firn::nn::internal

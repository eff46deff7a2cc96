// The mode and the options pick between firn::InstanceNorm and, with running statistics,
// firn::BatchNorm. Running statistics are moved after the result has been computed, which checks x.

#include "firn/nn/instance_norm.h"

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/norm/batch_norm.h"
#include "firn/tensor/ops/norm/channel_norms.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/reduce/moments.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::nn {
namespace {

// running = (1 - momentum) running + momentum mean(of_samples), [c] and [n, c].
void Move(const Tensor& running, const Tensor& of_samples, double momentum) {
  Assign(running, Add(Mul(running, 1 - momentum), Mul(Mean(of_samples, 0), momentum)));
}

}  // namespace

template <int kDims>
InstanceNorm<kDims>::InstanceNorm(const Options& options)
    : ChannelNormBase(options, "nn::InstanceNorm") {}

template <int kDims>
Tensor InstanceNorm<kDims>::Forward(const Tensor& x) {
  constexpr const char* kLayers[] = {"nn::InstanceNorm1d", "nn::InstanceNorm2d",
                                     "nn::InstanceNorm3d"};
  constexpr const char* kLayer = kLayers[kDims - 1];
  const int64_t channels = SizeOfInput(kLayer, x, -1 - kDims);
  if (x.rank() > kDims + 2) {
    RaiseStatus(InvalidArgument("wants ", kDims + 1, " or ", kDims + 2, " dimensions, x is ",
                                x.shape().ToString()),
                kLayer);
  }
  BuildFor(channels);
  return x.rank() == kDims + 2 ? Normalized(x) : Squeeze(Normalized(Unsqueeze(x, 0)), 0);
}

template <int kDims>
Tensor InstanceNorm<kDims>::Normalized(const Tensor& x) {
  const Options& o = options();
  const Tensor &mean = running_mean(), &var = running_var();
  if (o.track_running_stats && !training()) {
    return firn::BatchNorm(x, mean, var, weight(), bias(), {.eps = o.eps});
  }
  Tensor y = firn::InstanceNorm(x, weight(), bias(), o.eps);
  if (o.track_running_stats && x.num_elements() > 0) {
    const NoGradScope no_grad;
    const Tensor rows = Flatten(Cast(x.Detach(), mean.dtype()), 2);
    const VarMeanResult of_samples = VarMean(rows, 2);
    Move(mean, of_samples.mean, o.momentum);
    Move(var, of_samples.var, o.momentum);
  }
  return y;
}

template <int kDims>
std::string InstanceNorm<kDims>::type_name() const {
  return absl::StrCat("InstanceNorm", kDims, "d");
}

template class InstanceNorm<1>;
template class InstanceNorm<2>;
template class InstanceNorm<3>;

}  // namespace firn::nn

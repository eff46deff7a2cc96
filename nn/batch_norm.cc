// BatchNorm: parameters and running statistics of firn::BatchNorm; the mode picks which are used.

#include "firn/nn/batch_norm.h"

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/optimizer/update.h"

namespace firn::nn {

template <int kDims>
Tensor& BatchNorm<kDims>::AddVector(const char* name, bool wanted, bool parameter) {
  const std::vector<int64_t> sizes = {options().channels};
  if (!wanted) return parameter ? AddParameter(name, {}) : AddBuffer(name, {});
  return parameter ? AddPendingParameter(name, sizes) : AddPendingBuffer(name, sizes);
}

template <int kDims>
BatchNorm<kDims>::BatchNorm(const Options& options)
    : LayerWithOptions(options),
      weight_(AddVector("weight", options.affine, true)),
      bias_(AddVector("bias", options.affine, true)),
      running_mean_(AddVector("running_mean", options.track_running_stats, false)),
      running_var_(AddVector("running_var", options.track_running_stats, false)),
      num_batches_tracked_(AddBuffer("num_batches_tracked", options.track_running_stats
                                                                ? Zeros(Shape(), DType::kI64)
                                                                : Tensor())) {
  CheckSizes("nn::BatchNorm", {{"channels", options.channels, true}});
  if (options.channels != kDeferred) Build(options.channels);
}

template <int kDims>
void BatchNorm<kDims>::Build(int64_t channels) {
  InitPending(weight_, {channels}, init::Constant(1));
  InitPending(bias_, {channels}, init::Constant(0));
  InitPending(running_mean_, {channels}, init::Constant(0));
  InitPending(running_var_, {channels}, init::Constant(1));
}

template <int kDims>
Tensor BatchNorm<kDims>::Forward(const Tensor& x) {
  constexpr const char* kLayers[] = {"nn::BatchNorm1d", "nn::BatchNorm2d", "nn::BatchNorm3d"};
  constexpr const char* kLayer = kLayers[kDims - 1];
  const int64_t channels = SizeOfInput(kLayer, x, 1);
  const int rank = x.rank();
  if (rank != kDims + 2 && !(kDims == 1 && rank == 2)) {
    RaiseStatus(InvalidArgument("wants ", kDims == 1 ? "2 or 3" : absl::StrCat(kDims + 2),
                                " dimensions, x is ", x.shape().ToString()),
                kLayer);
  }
  if (Pends(weight_, bias_, running_mean_, running_var_)) [[unlikely]]
    Build(channels);
  Tensor y = firn::BatchNorm(x, running_mean_, running_var_, weight_, bias_,
                             {.training = training(),
                              .momentum = options().momentum,
                              .eps = options().eps,
                              .activation = options().activation});
  if (training() && num_batches_tracked_.defined()) {
    // Made where it is added: a copy from the host would keep CUDA from recording the step.
    Accumulate(num_batches_tracked_, OnesLike(num_batches_tracked_));
  }
  return y;
}

template <int kDims>
std::string BatchNorm<kDims>::type_name() const {
  return absl::StrCat("BatchNorm", kDims, "d");
}

template <int kDims>
void BatchNorm<kDims>::AddKnown(Options& options) const {
  options.channels = KnownSize(weight_, 0, KnownSize(running_mean_, 0, options.channels));
}

template class BatchNorm<1>;
template class BatchNorm<2>;
template class BatchNorm<3>;

}  // namespace firn::nn

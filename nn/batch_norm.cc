// Parameters and running statistics of firn::BatchNorm; the mode picks which are used.

#include "firn/nn/batch_norm.h"

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"

namespace firn::nn {

Tensor BatchNormBase::Normalized(const char* layer, const Tensor& x) {
  BuildFor(SizeOfInput(layer, x, 1));
  const auto& function = group_ ? firn::SyncBatchNorm : firn::BatchNorm;
  Tensor y = function(x, running_mean(), running_var(), weight(), bias(),
                      {.training = training(),
                       .momentum = options().momentum,
                       .eps = options().eps,
                       .activation = options().activation,
                       .group = group_.value_or(0)});
  if (training()) CountBatch();
  return y;
}

template <int kDims>
BatchNorm<kDims>::BatchNorm(const Options& options) : BatchNormBase(options, "nn::BatchNorm") {}

template <int kDims>
Tensor BatchNorm<kDims>::Forward(const Tensor& x) {
  constexpr const char* kLayers[] = {"nn::BatchNorm1d", "nn::BatchNorm2d", "nn::BatchNorm3d"};
  constexpr const char* kLayer = kLayers[kDims - 1];
  SizeOfInput(kLayer, x, 1);
  const int rank = x.rank();
  if (rank != kDims + 2 && !(kDims == 1 && rank == 2)) {
    RaiseStatus(InvalidArgument("wants ", kDims == 1 ? "2 or 3" : absl::StrCat(kDims + 2),
                                " dimensions, x is ", x.shape().ToString()),
                kLayer);
  }
  return Normalized(kLayer, x);
}

template <int kDims>
std::string BatchNorm<kDims>::type_name() const {
  return absl::StrCat("BatchNorm", kDims, "d");
}

Tensor SyncBatchNorm::Forward(const Tensor& x) { return Normalized("nn::SyncBatchNorm", x); }

int ConvertSyncBatchNorm(Module& net, int64_t group) {
  int count = 0;
  net.VisitModules([&](Module& m) {
    auto* const norm = dynamic_cast<BatchNormBase*>(&m);
    if (norm == nullptr) return;
    norm->SyncOver(group);
    ++count;
  });
  return count;
}

template class BatchNorm<1>;
template class BatchNorm<2>;
template class BatchNorm<3>;

}  // namespace firn::nn

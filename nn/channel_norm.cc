// Scales start at 1, shifts at 0, statistics at those of normal numbers.

#include "firn/nn/channel_norm.h"

#include <vector>

#include "firn/device/inner.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/instance_norm.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/optimizer/update.h"

namespace firn::nn {

template <class O>
Tensor& ChannelNormBase<O>::AddVector(const char* name, bool wanted, bool parameter) {
  const std::vector<int64_t> sizes = {this->options().channels};
  if (!wanted) return parameter ? this->AddParameter(name, {}) : this->AddBuffer(name, {});
  return parameter ? this->AddPendingParameter(name, sizes) : this->AddPendingBuffer(name, sizes);
}

template <class O>
ChannelNormBase<O>::ChannelNormBase(const O& options, const char* layer)
    : LayerWithOptions<O>(options),
      weight_(AddVector("weight", options.affine, true)),
      bias_(AddVector("bias", options.affine, true)),
      running_mean_(AddVector("running_mean", options.track_running_stats, false)),
      running_var_(AddVector("running_var", options.track_running_stats, false)),
      num_batches_tracked_(this->AddBuffer("num_batches_tracked", options.track_running_stats
                                                                      ? Zeros(Shape(), DType::kI64)
                                                                      : Tensor())) {
  CheckSizes(layer, {{"channels", options.channels, true}});
  if (options.channels != kDeferred) BuildFor(options.channels);
}

template <class O>
void ChannelNormBase<O>::BuildFor(int64_t channels) {
  if (!this->Pends(weight_, bias_, running_mean_, running_var_)) [[likely]]
    return;
  this->InitPending(weight_, {channels}, init::Constant(1));
  this->InitPending(bias_, {channels}, init::Constant(0));
  this->InitPending(running_mean_, {channels}, init::Constant(0));
  this->InitPending(running_var_, {channels}, init::Constant(1));
}

template <class O>
void ChannelNormBase<O>::AddKnown(O& options) const {
  options.channels = KnownSize(weight_, 0, KnownSize(running_mean_, 0, options.channels));
}

template <class O>
void ChannelNormBase<O>::CountBatch() {
  if (!num_batches_tracked_.defined()) return;
  // Made on the device where it is added: CUDA could not record a step with a copy from the host.
  Accumulate(num_batches_tracked_, OnesLike(num_batches_tracked_));
}

template class ChannelNormBase<BatchNormOptions>;
template class ChannelNormBase<InstanceNormOptions>;

}  // namespace firn::nn

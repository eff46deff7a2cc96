#ifndef FIRN_NN_BATCH_NORM_H_
#define FIRN_NN_BATCH_NORM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "firn/nn/channel_norm.h"
#include "firn/tensor/ops/norm/batch_norm.h"

namespace firn::nn {

struct BatchNormOptions {
  int64_t channels = kDeferred;
  double eps = 1e-5;
  double momentum = 0.1;  // running = (1 - momentum) running + momentum batch
  bool affine = true;
  bool track_running_stats = true;
  // Applied to the result in the same pass.
  FusedActivation activation = FusedActivation::kNone;
  template <class V>
  void Visit(V& v) {
    v.Deferred("channels", channels);
    v.Field("eps", eps);
    v.Field("momentum", momentum);
    v.Field("affine", affine);
    v.Field("track_running_stats", track_running_stats);
    v.Field("activation", activation);
  }
};

extern template class ChannelNormBase<BatchNormOptions>;

// Batch normalisation over all dimensions but the second; see tensor/ops/norm/batch_norm.h. In eval
// mode the running statistics are used and left alone, unless there are none.
class BatchNormBase : public ChannelNormBase<BatchNormOptions> {
 public:
  // From now on statistics in training are those of the batches of all ranks of a group (see
  // firn::SyncBatchNorm); 0 is the world. A Clone does not take this over.
  void SyncOver(int64_t group) { group_ = group; }
  // Empty: the statistics are those of the layer's own batches.
  std::optional<int64_t> group() const { return group_; }

 protected:
  using ChannelNormBase::ChannelNormBase;
  // x: [n, c, ...]
  Tensor Normalized(const char* layer, const Tensor& x);

 private:
  std::optional<int64_t> group_;
};

// Batch normalisation of each channel over all dimensions but the second.
// x: BatchNorm1d [n, c] or [n, c, l], BatchNorm2d [n, c, h, w], BatchNorm3d [n, c, d, h, w]
// Parameters: weight, bias [c]. Buffers: running_mean, running_var [c], num_batches_tracked [].
template <int kDims>
class BatchNorm final : public BatchNormBase {
 public:
  explicit BatchNorm(const Options& options = {});

  std::string type_name() const override;

 protected:
  Tensor Forward(const Tensor& x) override;
};

using BatchNorm1d = BatchNorm<1>;
using BatchNorm2d = BatchNorm<2>;
using BatchNorm3d = BatchNorm<3>;

extern template class BatchNorm<1>;
extern template class BatchNorm<2>;
extern template class BatchNorm<3>;

// Batch normalisation of [n, c, ...] with the statistics of the batches of all ranks that train
// together (PyTorch's SyncBatchNorm; see firn::SyncBatchNorm), which are those of the world until
// SyncOver names another group. With a single rank it is a BatchNorm for any number of dimensions.
// Parameters and buffers: those of BatchNorm.
class SyncBatchNorm final : public BatchNormBase {
 public:
  explicit SyncBatchNorm(const Options& options = {})
      : BatchNormBase(options, "nn::SyncBatchNorm") {
    SyncOver(0);
  }

 protected:
  Tensor Forward(const Tensor& x) override;
};

// Makes all batch norms in `net`, itself included, take their statistics over the ranks of a group
// (PyTorch's convert_sync_batchnorm, but layers stay the same objects). Returns their number.
int ConvertSyncBatchNorm(Module& net, int64_t group = 0);

}  // namespace firn::nn

#endif  // FIRN_NN_BATCH_NORM_H_

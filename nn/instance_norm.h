#ifndef FIRN_NN_INSTANCE_NORM_H_
#define FIRN_NN_INSTANCE_NORM_H_

#include <cstdint>
#include <string>

#include "firn/nn/channel_norm.h"

namespace firn::nn {

struct InstanceNormOptions {
  int64_t channels = kDeferred;
  double eps = 1e-5;
  double momentum = 0.1;  // running = (1 - momentum) running + momentum mean of the samples
  bool affine = false;
  bool track_running_stats = false;
  template <class V>
  void Visit(V& v) {
    v.Deferred("channels", channels);
    v.Field("eps", eps);
    v.Field("momentum", momentum);
    v.Field("affine", affine);
    v.Field("track_running_stats", track_running_stats);
  }
};

extern template class ChannelNormBase<InstanceNormOptions>;

// Instance normalisation, of each channel of each sample by its own mean and variance; see
// tensor/ops/norm/channel_norms.h. With `track_running_stats` training moves running statistics to
// the samples' means of both (the variance unbiased), and eval mode normalises with them, as
// BatchNorm does.
// x: InstanceNorm1d [n, c, l], InstanceNorm2d [n, c, h, w], InstanceNorm3d [n, c, d, h, w]; any may
// lack the batch.
// Parameters, where asked for: weight, bias [c]. Buffers, where asked for: running_mean,
// running_var [c], num_batches_tracked [], which stays 0, as in PyTorch.
template <int kDims>
class InstanceNorm final : public ChannelNormBase<InstanceNormOptions> {
 public:
  explicit InstanceNorm(const Options& options = {});

  std::string type_name() const override;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  // x: with its batch.
  Tensor Normalized(const Tensor& x);
};

using InstanceNorm1d = InstanceNorm<1>;
using InstanceNorm2d = InstanceNorm<2>;
using InstanceNorm3d = InstanceNorm<3>;

extern template class InstanceNorm<1>;
extern template class InstanceNorm<2>;
extern template class InstanceNorm<3>;

}  // namespace firn::nn

#endif  // FIRN_NN_INSTANCE_NORM_H_

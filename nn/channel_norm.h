#ifndef FIRN_NN_CHANNEL_NORM_H_
#define FIRN_NN_CHANNEL_NORM_H_

#include "firn/nn/layer.h"

namespace firn::nn {

// The common base of batch and instance normalisation: a scale and a shift of each channel, and
// statistics of channels that training moves. O: BatchNormOptions or InstanceNormOptions.
// Parameters: weight, bias [c]. Buffers: running_mean, running_var [c], num_batches_tracked [].
template <class O>
class ChannelNormBase : public LayerWithOptions<O> {
 public:
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }
  const Tensor& running_mean() const { return running_mean_; }
  const Tensor& running_var() const { return running_var_; }

 protected:
  // Throws, naming `layer`, when the number of channels is negative.
  ChannelNormBase(const O& options, const char* layer);

  // Makes the tensors that wait for the first input, and returns its channels.
  void BuildFor(int64_t channels);
  void AddKnown(O& options) const override;
  // Counts a batch, if there are statistics.
  void CountBatch();

 private:
  Tensor& AddVector(const char* name, bool wanted, bool parameter);

  Tensor &weight_, &bias_, &running_mean_, &running_var_, &num_batches_tracked_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_CHANNEL_NORM_H_

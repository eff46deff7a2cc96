#ifndef FIRN_NN_NORM_H_
#define FIRN_NN_NORM_H_

// Normalisation layers that keep no statistics; batch normalisation is in nn/batch_norm.h.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "firn/nn/layer.h"

namespace firn::nn {

struct LayerNormOptions {
  // Sizes of the trailing dimensions over which is normalised; empty: the last one, its size from
  // the first input.
  std::vector<int64_t> shape = {};
  double eps = 1e-5;
  bool affine = true;
  bool bias = true;  // without affine there is none
};

// Layer normalisation; see tensor/ops/norm/layer_norm.h.
// x: [..., shape]      y: as x
// Parameters: weight, bias of that shape.
class LayerNorm final : public Layer {
 public:
  using Options = LayerNormOptions;
  explicit LayerNorm(const Options& options = {});

  const Options& options() const { return options_; }
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Tensor& AddVector(const char* name, bool wanted);
  void Build(const Shape& shape);

  Options options_;
  Tensor &weight_, &bias_;
};

struct RmsNormOptions {
  std::vector<int64_t> shape = {};  // as LayerNormOptions::shape
  std::optional<double> eps = {};   // absent: the machine epsilon of x's dtype
  bool affine = true;
};

// Root mean square normalisation; see tensor/ops/norm/layer_norm.h.
// x: [..., shape]      y: as x
// Parameter: weight of that shape.
class RmsNorm final : public Layer {
 public:
  using Options = RmsNormOptions;
  explicit RmsNorm(const Options& options = {});

  const Options& options() const { return options_; }
  const Tensor& weight() const { return weight_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Options options_;
  Tensor& weight_;
};

struct GroupNormOptions {
  int64_t groups = 1;
  int64_t channels = kDeferred;
  double eps = 1e-5;
  bool affine = true;
};

// Group normalisation; see tensor/ops/norm/layer_norm.h.
// x: [n, channels, ...]      y: as x
// Parameters: weight, bias [channels].
class GroupNorm final : public Layer {
 public:
  using Options = GroupNormOptions;
  // Throws when groups does not divide the channels.
  explicit GroupNorm(const Options& options = {});

  const Options& options() const { return options_; }
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  void Build(int64_t channels);

  Options options_;
  Tensor &weight_, &bias_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_NORM_H_

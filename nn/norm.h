#ifndef FIRN_NN_NORM_H_
#define FIRN_NN_NORM_H_

// Normalisation layers that keep no statistics; those that do are in nn/batch_norm.h and
// nn/instance_norm.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "firn/nn/function_layer.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/norm/channel_norms.h"

namespace firn::nn {

struct LayerNormOptions {
  // Sizes of the trailing dimensions over which is normalised; empty: the last one, its size from
  // the first input.
  std::vector<int64_t> shape = {};
  double eps = 1e-5;
  bool affine = true;
  bool bias = true;  // without affine there is none
  template <class V>
  void Visit(V& v) {
    v.Deferred("shape", shape);
    v.Field("eps", eps);
    v.Field("affine", affine);
    v.Field("bias", bias);
  }
};

// Layer normalisation; see tensor/ops/norm/layer_norm.h.
// x: [..., shape]      y: as x
// Parameters: weight, bias of that shape.
class LayerNorm final : public LayerWithOptions<LayerNormOptions> {
 public:
  explicit LayerNorm(const Options& options = {});

  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }

 protected:
  Tensor Forward(const Tensor& x) override;
  void AddKnown(Options& options) const override;

 private:
  Tensor& AddVector(const char* name, bool wanted);
  void Build(const Shape& shape);

  Tensor &weight_, &bias_;
};

struct RmsNormOptions {
  std::vector<int64_t> shape = {};  // as LayerNormOptions::shape
  std::optional<double> eps = {};   // absent: the machine epsilon of x's dtype
  bool affine = true;
  template <class V>
  void Visit(V& v) {
    v.Deferred("shape", shape);
    v.Field("eps", eps);
    v.Field("affine", affine);
  }
};

// Root mean square normalisation; see tensor/ops/norm/layer_norm.h.
// x: [..., shape]      y: as x
// Parameter: weight of that shape.
class RmsNorm final : public LayerWithOptions<RmsNormOptions> {
 public:
  explicit RmsNorm(const Options& options = {});

  const Tensor& weight() const { return weight_; }

 protected:
  Tensor Forward(const Tensor& x) override;
  void AddKnown(Options& options) const override;

 private:
  Tensor& weight_;
};

struct GroupNormOptions {
  int64_t groups = 1;
  int64_t channels = kDeferred;
  double eps = 1e-5;
  bool affine = true;
  template <class V>
  void Visit(V& v) {
    v.Always("groups", groups);
    v.Deferred("channels", channels);
    v.Field("eps", eps);
    v.Field("affine", affine);
  }
};

// Group normalisation; see tensor/ops/norm/group_norm.h.
// x: [n, channels, ...]      y: as x
// Parameters: weight, bias [channels].
class GroupNorm final : public LayerWithOptions<GroupNormOptions> {
 public:
  // Throws when groups does not divide the channels.
  explicit GroupNorm(const Options& options = {});

  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }

 protected:
  Tensor Forward(const Tensor& x) override;
  void AddKnown(Options& options) const override;

 private:
  void Build(int64_t channels);

  Tensor &weight_, &bias_;
};

struct LocalResponseNormOptions {
  int64_t size = 1;  // channels that count for each
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1;
  template <class V>
  void Visit(V& v) {
    v.Always("size", size);
    v.Field("alpha", alpha);
    v.Field("beta", beta);
    v.Field("k", k);
  }
  void Check(const char* where) const { CheckSizes(where, {{"size", size}}); }
};

// Local response normalisation; see tensor/ops/norm/channel_norms.h.
// x: [n, channels, ...] of rank 3 or more      y: as x
struct LocalResponseNormFunction {
  static constexpr const char* kName = "LocalResponseNorm";
  using Options = LocalResponseNormOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    return firn::LocalResponseNorm(x, o.size, {.alpha = o.alpha, .beta = o.beta, .k = o.k});
  }
};
using LocalResponseNorm = FunctionLayer<LocalResponseNormFunction>;

}  // namespace firn::nn

#endif  // FIRN_NN_NORM_H_

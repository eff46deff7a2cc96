#ifndef FIRN_NN_BILINEAR_H_
#define FIRN_NN_BILINEAR_H_

#include <cstdint>

#include "firn/nn/layer.h"

namespace firn::nn {

struct BilinearOptions {
  int64_t in1 = kDeferred;
  int64_t in2 = kDeferred;
  int64_t out = 0;
  bool bias = true;
  init::Initializer weight_init = {};  // empty: uniform within 1 / sqrt(in1)
  init::Initializer bias_init = {};    // empty: the same
  template <class V>
  void Visit(V& v) {
    v.Deferred("in1", in1);
    v.Deferred("in2", in2);
    v.Always("out", out);
    v.Field("bias", bias);
  }
};

// y[o] = x1^T weight[o] x2 + bias[o] over the last dimensions; called with (x1, x2).
// x1: [..., in1]      x2: [..., in2]      y: [..., out]
// Parameters: weight [out, in1, in2], bias [out].
class Bilinear final : public LayerWithOptions<BilinearOptions, LayerOf<Tensor, Tensor>> {
 public:
  // Throws when out is not positive.
  explicit Bilinear(const Options& options);

  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }  // undefined without

 protected:
  void AddKnown(Options& options) const override;
  Tensor Forward(const Tensor& x1, const Tensor& x2) override;

 private:
  void Build(int64_t in1, int64_t in2);

  Tensor& weight_;
  Tensor& bias_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_BILINEAR_H_

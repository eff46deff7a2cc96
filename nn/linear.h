#ifndef FIRN_NN_LINEAR_H_
#define FIRN_NN_LINEAR_H_

#include <cstdint>

#include "firn/nn/layer.h"

namespace firn::nn {

struct LinearOptions {
  int64_t in = kDeferred;
  int64_t out = 0;
  bool bias = true;
  init::Initializer weight_init = {};  // empty: uniform within 1 / sqrt(in)
  init::Initializer bias_init = {};    // empty: the same
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "out", out);
    v.Field("bias", bias);
  }
};

// y = x W^T + b over the last dimension.
// x: [..., in]      y: [..., out]
// Parameters: weight [out, in], bias [out].
class Linear final : public LayerWithOptions<LinearOptions> {
 public:
  // Throws when out is not positive.
  explicit Linear(const Options& options);

  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }  // undefined without

 protected:
  Tensor Forward(const Tensor& x) override;
  void AddKnown(Options& options) const override;

 private:
  void Build(int64_t in);

  Tensor& weight_;
  Tensor& bias_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_LINEAR_H_

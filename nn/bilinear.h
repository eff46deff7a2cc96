#ifndef FIRN_NN_BILINEAR_H_
#define FIRN_NN_BILINEAR_H_

#include <cstdint>
#include <string>

#include "firn/nn/layer.h"

namespace firn::nn {

struct BilinearOptions {
  int64_t in1 = kDeferred;
  int64_t in2 = kDeferred;
  int64_t out = 0;
  bool bias = true;
  init::Initializer weight_init = {};  // empty: uniform within 1 / sqrt(in1)
  init::Initializer bias_init = {};    // empty: the same
};

// y[o] = x1^T weight[o] x2 + bias[o] over the last dimensions; called with (x1, x2).
// x1: [..., in1]      x2: [..., in2]      y: [..., out]
// Parameters: weight [out, in1, in2], bias [out].
class Bilinear final : public LayerOf<Tensor, Tensor> {
 public:
  using Options = BilinearOptions;
  // Throws when out is not positive.
  explicit Bilinear(const Options& options);

  const Options& options() const { return options_; }
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }  // undefined without
  std::string Describe() const override;
  int64_t MultiplyAdds(const Shape& input, const Shape& output) const override;

 protected:
  Tensor Forward(const Tensor& x1, const Tensor& x2) override;

 private:
  void Build(int64_t in1, int64_t in2);

  Options options_;
  Tensor& weight_;
  Tensor& bias_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_BILINEAR_H_

#ifndef FIRN_NN_PRELU_H_
#define FIRN_NN_PRELU_H_

#include <cstdint>

#include "firn/nn/layer.h"

namespace firn::nn {

struct PreluOptions {
  int64_t count = 1;   // number of slopes: one for all elements, or one for each channel
  double init = 0.25;  // their first value
  template <class V>
  void Visit(V& v) {
    v.Field("count", count);
    v.Field("init", init);
  }
};

// x where x > 0, else weight * x, with slopes that are learnt; see
// tensor/ops/activation/rectifiers.h. x: [n, count, ...], any shape for one slope      y: as x
// Parameter: weight [count].
class Prelu final : public LayerWithOptions<PreluOptions> {
 public:
  // Throws when count is not positive.
  explicit Prelu(const Options& options = {});

  const Tensor& weight() const { return weight_; }

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Tensor& weight_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_PRELU_H_

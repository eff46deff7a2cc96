#ifndef FIRN_TENSOR_OPS_RANDOM_DROPOUT_H_
#define FIRN_TENSOR_OPS_RANDOM_DROPOUT_H_

#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct DropoutAttrs {
  double p = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
  }
};
}  // namespace inner

// While training, each element of x (floating) is set to 0 with probability p and otherwise scaled
// by 1 / (1 - p), so that its expectation stays (N. Srivastava et al., "Dropout: a simple way to
// prevent neural networks from overfitting", JMLR 2014, in the inverted form); p = 1 gives zeros.
// x itself when not training. For the gradient it keeps a bit for each element. Throws on a p
// outside
// [0, 1].
Tensor Dropout(const Tensor& x, inner::Real p = 0.5, inner::Flag training = true,
               RandomGenerator* generator = nullptr);

namespace inner {
// dy with the same elements dropped, and the others scaled, as in a dropout: bit e % 8 of kept[e /
// 8] (u8) is set where it kept element e.
Tensor DropoutGrad(const Tensor& dy, const Tensor& kept, double p);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_DROPOUT_H_

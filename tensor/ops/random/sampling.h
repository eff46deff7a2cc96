#ifndef FIRN_TENSOR_OPS_RANDOM_SAMPLING_H_
#define FIRN_TENSOR_OPS_RANDOM_SAMPLING_H_

#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct RandpermAttrs {
  int64_t n = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("n", n);
  }
};
}  // namespace inner

// The numbers 0 to n - 1 in random order, i64 [n]; all orders are equally likely. Throws when n is
// negative.
Tensor Randperm(inner::Integer n, const RandomOptions& options = {});

namespace inner {
struct MultinomialAttrs {
  int64_t n = 1;
  bool replacement = false;
  template <class V>
  void Visit(V& v) {
    v.Field("n", n);
    v.Field("replacement", replacement);
  }
};
}  // namespace inner

struct MultinomialOptions {
  bool replacement = false;
  RandomGenerator* generator = nullptr;  // null: the device's default generator
};

// n draws from each distribution in the last dimension of `probs` (floating, weights that need not
// add up to 1): [..., categories] -> i64 [..., n]. Without replacement no category is drawn twice.
// Throws on a weight that is negative or not finite, on weights that are all 0, and when fewer than
// n are positive without replacement.
Tensor Multinomial(const Tensor& probs, inner::Integer n, const MultinomialOptions& options = {});

struct RandomChoiceOptions {
  bool replacement = true;
  RandomGenerator* generator = nullptr;  // null: the device's default generator
};

// Elements of x's last dimension, drawn by `weights`, which have x's shape and are those of
// Multinomial: [..., n] -> [..., shape] (NNabla's random_choice). The gradient goes to the elements
// that were drawn, none to the weights. Throws Multinomial's errors, and on other shapes.
Tensor RandomChoice(const Tensor& x, const Tensor& weights, const Shape& shape,
                    const RandomChoiceOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_SAMPLING_H_

#ifndef FIRN_TENSOR_OPS_QUANTIZE_PRUNE_H_
#define FIRN_TENSOR_OPS_QUANTIZE_PRUNE_H_

// Weights that are replaced one by one: by zeros, or step by step by powers of two.

#include <cstdint>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {

// x with zeros where |x| is less than the element of rank floor((size - 1) rate) among all |x|
// (NNabla's prune); for rate 1, zeros. The gradient goes unchanged to all of x, so that pruned
// weights go on learning. NaN counts as large, and stays. x: floating. Throws unless rate lies in
// [0, 1].
Tensor MagnitudePrune(const Tensor& x, inner::Real rate = 0.9);

// The choice of weights that are fixed first.
enum class InqSelection : uint8_t {
  kLargestAbs,
  kRandom,  // each free one with probability 1/2
};
constexpr auto WordsOf(InqSelection) {
  return inner::EnumWords<InqSelection>(
      {{InqSelection::kLargestAbs, "largest_abs"}, {InqSelection::kRandom, "random"}});
}

struct InqOptions {
  int64_t num_bits = 4;
  std::vector<int64_t> iterations = {};  // the steps at which weights are fixed, ascending
  InqSelection selection = InqSelection::kLargestAbs;
  bool training = true;
  RandomGenerator* generator = nullptr;  // of kRandom; null: the device's default
};

// Incremental network quantization (Zhou et al., 2017; NNabla's inq_affine): w, whose elements are
// powers of two or 0 where `fixed` holds.
// w: floating      fixed: bool of w's shape      step: i64, one element
// In training, half of the free elements become fixed when `step` is one of options.iterations, all
// at the last; then step is counted up. Both are written in place.
// The powers are 2^n for n2 <= n <= n1, where 2^n1 is the largest |w|, rounded up from 3/2 of a
// power on as all elements are, and n2 = n1 + 1 - 2^(num_bits - 2). Elements below 2^(n2 - 1)
// become 0. Fixed elements get no gradient; an optimizer that changes w without a gradient (weight
// decay) still moves the weights from which they are computed. Throws on shapes and dtypes that do
// not fit, num_bits outside of 2 to 8, and iterations that do not ascend.
Tensor InqQuantize(const Tensor& w, const Tensor& fixed, const Tensor& step,
                   const InqOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_PRUNE_H_

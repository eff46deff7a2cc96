#ifndef FIRN_TENSOR_OPS_REDUCE_QUANTILE_H_
#define FIRN_TENSOR_OPS_REDUCE_QUANTILE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/tensor/tensor.h"

namespace firn {

// What a quantile is whose place, counted from 0, lies between two elements i <= j that follow each
// other in order.
enum class QuantileInterpolation : int8_t {
  kLinear,    // i + (j - i) * (the place's fraction)
  kLower,     // i
  kHigher,    // j
  kNearest,   // the nearer one; half way, the one whose place is even
  kMidpoint,  // (i + j) / 2
};
constexpr auto WordsOf(QuantileInterpolation) {
  return inner::EnumWords<QuantileInterpolation>({{QuantileInterpolation::kLinear, "linear"},
                                                  {QuantileInterpolation::kLower, "lower"},
                                                  {QuantileInterpolation::kHigher, "higher"},
                                                  {QuantileInterpolation::kNearest, "nearest"},
                                                  {QuantileInterpolation::kMidpoint, "midpoint"}});
}

struct QuantileOptions {
  std::optional<int64_t> dim = {};  // absent: of all elements
  bool keepdim = false;
  QuantileInterpolation interpolation = QuantileInterpolation::kLinear;
};

// The number that a share `q` of the n elements lies below: with the elements in order, what is at
// the place q (n - 1), counted from 0 and computed in f64 (torch.quantile; NumPy's default). NaN
// where there is one and, like PyTorch's, where an element at the place is infinite, unless the
// interpolation takes one element alone. The gradient goes to the one or two elements that the
// result is made of. Floating x; half types compute in float. Throws unless 0 <= q <= 1, and when
// there are no elements.
Tensor Quantile(const Tensor& x, inner::Real q, const QuantileOptions& options = {});
// Several at once, from elements that are put in order once: the first dimension of the result is
// that of the list, which is not empty.
Tensor Quantile(const Tensor& x, const std::vector<double>& q, const QuantileOptions& options = {});
inline Tensor Quantile(const Tensor& x, std::initializer_list<double> q,
                       const QuantileOptions& options = {}) {
  return Quantile(x, std::vector<double>(q), options);
}

// Quantile of the elements that are not NaN (torch.nanquantile); NaN where there are none.
Tensor Nanquantile(const Tensor& x, inner::Real q, const QuantileOptions& options = {});
Tensor Nanquantile(const Tensor& x, const std::vector<double>& q,
                   const QuantileOptions& options = {});
inline Tensor Nanquantile(const Tensor& x, std::initializer_list<double> q,
                          const QuantileOptions& options = {}) {
  return Nanquantile(x, std::vector<double>(q), options);
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_QUANTILE_H_

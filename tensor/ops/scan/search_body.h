#ifndef FIRN_TENSOR_OPS_SCAN_SEARCH_BODY_H_
#define FIRN_TENSOR_OPS_SCAN_SEARCH_BODY_H_

// searchsorted: a binary search for each value, of as many steps as the row is long, without jumps
// that depend on values.

#include <type_traits>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/ops/scan/search.h"

namespace firn {

template <class T>
struct SearchsortedBody {
  using C = ComparedAs<T>;
  const T* sorted;
  const T* values;
  int64_t* places;
  int64_t length;
  int64_t values_a_row;  // 0: one row for all values
  bool right;

  // NaN is above all numbers.
  FIRN_HOST_DEVICE static bool Below(C a, C b) { return a < b || (b != b && a == a); }

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const T* const row = sorted + (values_a_row == 0 ? 0 : Quotient(i, values_a_row) * length);
    const C value = static_cast<C>(values[i]);
    int64_t first = 0;  // all elements before it come before the value
    for (int64_t left = length; left > 0;) {
      const int64_t half = left / 2;
      const C middle = static_cast<C>(row[first + half]);
      const bool before = right ? !Below(value, middle) : Below(middle, value);
      first += before ? half + 1 : 0;
      left = before ? left - half - 1 : half;
    }
    places[i] = first;
  }
  int64_t cost() const {
    int64_t steps = 1;
    for (int64_t n = length; n > 0; n /= 2) ++steps;
    return 4 * steps;
  }
};

struct SearchsortedKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const Shape &sorted = k.in_spec(0).shape, &values = k.in_spec(1).shape;
    const int64_t each = sorted.rank() == 1 ? 0 : values.dim(-1);
    return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      return on.ForEach(
          values.num_elements(),
          SearchsortedBody<T>{k.in<T>(0), k.in<T>(1), k.out<int64_t>(), sorted.dim(-1), each,
                              k.attrs<SearchsortedAttrs>().right});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SCAN_SEARCH_BODY_H_

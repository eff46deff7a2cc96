#ifndef FIRN_TENSOR_OPS_REDUCE_REDUCTION_SAMPLES_H_
#define FIRN_TENSOR_OPS_REDUCE_REDUCTION_SAMPLES_H_

// Parts shared by the samples of reductions. Test code only.

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "firn/tensor/problems/reduce_attrs.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// f(elements) of the elements, row-major, that make each result.
RefTensor ReduceReference(const RefTensor& x, const ReduceAttrs& attrs,
                          const std::function<double(const std::vector<double>&)>& f);

// The reference of an operation with one result and ReduceAttrs.
ReferenceFn ReductionReference(double (*f)(const std::vector<double>& elements));

// The place of the first of the elements that win; NaN beats all.
template <bool kLargest>
double FirstExtreme(const std::vector<double>& elements) {
  size_t best = 0;
  for (size_t i = 1; i < elements.size() && !std::isnan(elements[best]); ++i) {
    const double v = elements[i];
    if (std::isnan(v) || (kLargest ? v > elements[best] : v < elements[best])) best = i;
  }
  return static_cast<double>(best);
}

// Samples of an operation on floating tensors with ReduceAttrs: every way the loops may go. The
// elements are distinct and, with `positive`, above 0.
void AddReductionSamples(Samples& s, bool positive = false);

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_REDUCE_REDUCTION_SAMPLES_H_

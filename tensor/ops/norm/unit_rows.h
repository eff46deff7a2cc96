#ifndef FIRN_TENSOR_OPS_NORM_UNIT_ROWS_H_
#define FIRN_TENSOR_OPS_NORM_UNIT_ROWS_H_

#include <cstdint>

#include "firn/tensor/tensor.h"

namespace firn::inner {

struct UnitRowsAttrs {
  double eps = 0;    // below the root of the sum of squares
  double least = 0;  // the least length
  template <class V>
  void Visit(V& v) {
    v.Field("eps", eps);
    v.Field("least", least);
  }
};

// Whether UnitRows takes matrices of so many columns: on the CPU, rows that are not short.
bool TakesUnitRows(Device device, int64_t cols);

// The rows of x over max(sqrt(|row|^2 + eps), least), times `scale`.
// x: floating [rows, columns]      scale: [rows], of x's dtype, or undefined for 1
Tensor UnitRows(const Tensor& x, const Tensor& scale, const UnitRowsAttrs& attrs);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_NORM_UNIT_ROWS_H_

// The shapes of the products of recurrent layers over all rows of all steps, which are the
// library's own (gemm.h), and what kernels read of a call.

#include "firn/tensor/kernels/cpu/recurrent_layer.h"

namespace firn::cpu {

TimeSteps StepsOf(const Shape& x, int64_t batch, const RecurrentLayerAttrs& attrs) {
  if (attrs.batch_sizes.empty()) return {x[0], batch, nullptr, attrs.reverse};
  return {static_cast<int64_t>(attrs.batch_sizes.size()), batch, attrs.batch_sizes.data(),
          attrs.reverse};
}

GemmShape InputProduct(int64_t rows, int64_t columns, int64_t depth, int64_t c_row) {
  return {.m = rows, .n = columns, .k = depth, .a = {depth, 1}, .b = {1, depth}, .c_row = c_row};
}

GemmShape WeightProduct(int64_t rows, int64_t m, int64_t n) {
  return {.m = m, .n = n, .k = rows, .a = {1, m}, .b = {n, 1}, .c_row = n};
}

}  // namespace firn::cpu

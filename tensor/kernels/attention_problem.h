#ifndef FIRN_TENSOR_KERNELS_ATTENTION_PROBLEM_H_
#define FIRN_TENSOR_KERNELS_ATTENTION_PROBLEM_H_

#include <cstdint>

#include "firn/device/macros.h"

namespace firn {

// How far apart elements of [batch, heads, rows, columns] lie. A size that is broadcast has the
// stride 0.
struct AttentionStrides {
  int64_t batch = 0, head = 0, row = 0, column = 0;

  FIRN_HOST_DEVICE int64_t At(int64_t b, int64_t h, int64_t r) const {
    return b * batch + h * head + r * row;
  }
};

// The inputs of attention, for every device. Head h of the queries reads head h / group() of keys
// and values.
struct AttentionProblem {
  int64_t batch = 0, heads = 0, kv_heads = 0;
  int64_t queries = 0, keys = 0;
  int64_t width = 0, value_width = 0;  // of a query and a key, and of a value
  double scale = 1, dropout = 0;
  bool causal = false;
  AttentionStrides q, k, v, mask;

  FIRN_HOST_DEVICE int64_t group() const { return kv_heads == 0 ? 1 : heads / kv_heads; }
  // How many keys query i sees, the mask aside.
  FIRN_HOST_DEVICE int64_t Seen(int64_t i) const { return causal && i + 1 < keys ? i + 1 : keys; }
  // The number of weight (b, h, i, 0) among all weights: element e is dropped by random word e.
  FIRN_HOST_DEVICE int64_t Weight(int64_t b, int64_t h, int64_t i) const {
    return ((b * heads + h) * queries + i) * keys;
  }
};

// The strides of a dense [batch, rows, heads, columns], the layout of results: joining the heads of
// a row is then a view.
FIRN_HOST_DEVICE constexpr AttentionStrides ByRows(int64_t heads, int64_t rows, int64_t columns) {
  return {rows * heads * columns, columns, heads * columns, 1};
}

// The logarithm of a weight, computed again from its score. It is at most 0, since no weight is
// above 1: where scores are so large that rounding moves them far, a weight would be infinite.
template <class T>
FIRN_HOST_DEVICE constexpr T LogWeight(T score, T logsumexp) {
  const T log = score - logsumexp;
  return log > 0 ? T(0) : log;  // NaN remains
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_ATTENTION_PROBLEM_H_

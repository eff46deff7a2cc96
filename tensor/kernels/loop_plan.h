#ifndef FIRN_TENSOR_KERNELS_LOOP_PLAN_H_
#define FIRN_TENSOR_KERNELS_LOOP_PLAN_H_

#include <cstdint>

#include "absl/types/span.h"
#include "firn/device/own_flags.h"
#include "firn/tensor/op.h"
#include "firn/tensor/shape.h"

namespace firn {

inline constexpr int kMaxOperands = 5;

// How to walk several broadcast operands together: the fewest dimensions in each of which every
// operand has one stride (in elements; 0 where it is broadcast). The last dimension is the inner
// loop.
struct LoopPlan {
  int rank = 1;
  int operands = 0;
  int64_t sizes[kMaxRank] = {1};
  int64_t strides[kMaxOperands][kMaxRank] = {};

  int64_t inner() const { return sizes[rank - 1]; }
  int64_t rows() const;
};

// A plan over `shape` for operands that broadcast to it. Operands that are dense in one blocked
// layout are walked flat (Takes::kElementwise guarantees that all of them are).
LoopPlan PlanLoop(const Shape& shape, absl::Span<const TensorSpec* const> operands);

// Calls f(offsets) for each row in [begin, end): the element offsets of the operands.
template <class F>
void ForEachRow(const LoopPlan& p, int64_t begin, int64_t end, F&& f) {
  int64_t at[kMaxRank] = {};
  int64_t offset[kMaxOperands] = {};
  int64_t rest = begin;
  for (int d = p.rank - 2; d >= 0; --d) {
    at[d] = rest % p.sizes[d];
    rest /= p.sizes[d];
    for (int o = 0; o < p.operands; ++o) offset[o] += at[d] * p.strides[o][d];
  }
  for (int64_t row = begin; row < end; ++row) {
    f(static_cast<const int64_t*>(offset));
    for (int d = p.rank - 2; d >= 0; --d) {  // the odometer
      for (int o = 0; o < p.operands; ++o) offset[o] += p.strides[o][d];
      if (++at[d] < p.sizes[d]) break;
      for (int o = 0; o < p.operands; ++o) offset[o] -= at[d] * p.strides[o][d];
      at[d] = 0;
    }
  }
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_LOOP_PLAN_H_

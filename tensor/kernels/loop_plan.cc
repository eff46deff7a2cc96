// Collapsing dimensions: two neighbours become one when, for every operand, stepping the outer one
// is the same as running off the end of the inner one.

#include "firn/tensor/kernels/loop_plan.h"

#include "firn/device/check.h"

namespace firn {

int64_t LoopPlan::rows() const {
  int64_t n = 1;
  for (int d = 0; d + 1 < rank; ++d) n *= sizes[d];
  return n;
}

namespace {

// Whether operands are dense in one layout; those of a single element stand still and may have any.
bool AllFlat(const Shape& shape, absl::Span<const TensorSpec* const> operands) {
  for (const TensorSpec* s : operands) {
    if (s->num_elements() == 1 && s != operands[0]) continue;
    if (!s->dense() || s->shape != shape ||
        s->layout.channel_block != operands[0]->layout.channel_block) {
      return false;
    }
  }
  return true;
}

int64_t StrideOf(const TensorSpec& s, const Shape& shape, int dim) {
  const int own = dim - (shape.rank() - s.shape.rank());
  return own < 0 || s.shape[own] == 1 ? 0 : s.layout.strides[own];
}

bool Continues(const LoopPlan& p, int last, const int64_t* strides, int64_t size) {
  for (int o = 0; o < p.operands; ++o) {
    if (p.strides[o][last] != strides[o] * size) return false;
  }
  return true;
}

}  // namespace

LoopPlan PlanLoop(const Shape& shape, absl::Span<const TensorSpec* const> operands) {
  FIRN_DCHECK(operands.size() <= static_cast<size_t>(kMaxOperands));
  LoopPlan p;
  p.operands = static_cast<int>(operands.size());
  if (AllFlat(shape, operands)) {
    p.sizes[0] = shape.num_elements();
    for (int o = 0; o < p.operands; ++o) {
      p.strides[o][0] = operands[static_cast<size_t>(o)]->shape == shape ? 1 : 0;
    }
    return p;
  }
  int last = -1;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 1) continue;
    int64_t strides[kMaxOperands];
    for (int o = 0; o < p.operands; ++o)
      strides[o] = StrideOf(*operands[static_cast<size_t>(o)], shape, d);
    if (last >= 0 && Continues(p, last, strides, shape[d])) {
      p.sizes[last] *= shape[d];
    } else {
      p.sizes[++last] = shape[d];
    }
    for (int o = 0; o < p.operands; ++o) p.strides[o][last] = strides[o];
  }
  p.rank = last < 0 ? 1 : last + 1;
  return p;
}

}  // namespace firn

// Stacks of matrix products as few products: batch dimensions that only a has become its rows.

#include "firn/tensor/kernels/matmul_plan.h"

#include <algorithm>
#include <utility>

namespace firn {
namespace {

struct Side {
  MatrixStrides matrix;
  int64_t rows = 1, cols = 1;
};

Side LastTwo(const TensorSpec& s, bool transpose, bool vector_is_row) {
  const int r = s.shape.rank();
  const Dims& strides = s.layout.strides;
  if (r == 1) {
    if (vector_is_row) return {{0, strides[0]}, 1, s.shape[0]};
    return {{strides[0], 0}, s.shape[0], 1};
  }
  Side side{{strides[r - 2], strides[r - 1]}, s.shape[r - 2], s.shape[r - 1]};
  if (transpose) {
    std::swap(side.matrix.row, side.matrix.col);
    std::swap(side.rows, side.cols);
  }
  return side;
}

// Size and stride of batch dimension `d` of `rank`, for an operand that may have fewer.
struct BatchDim {
  int64_t size, stride;
};
BatchDim BatchDimOf(const TensorSpec& s, int d, int rank) {
  const int own = d - rank + std::max(s.shape.rank() - 2, 0);
  if (own < 0 || s.shape[own] == 1) return {1, 0};
  return {s.shape[own], s.layout.strides[own]};
}

// Turns the innermost batch dimensions into rows of a.
void FoldBatch(MatmulPlan* p) {
  GemmShape& g = p->one;
  while (p->batch.rank > 0) {
    const int last = p->batch.rank - 1;
    const int64_t size = p->batch[last], step = p->a_batch[last];
    if (p->b_batch[last] != 0 || (g.m != 1 && step != g.m * g.a.row)) return;
    if (g.m == 1) g.a.row = step;
    g.m *= size;
    --p->batch.rank;
    p->batches = size == 0 ? 0 : p->batches / size;
  }
}

}  // namespace

MatmulPlan PlanMatmul(const TensorSpec& a, bool transpose_a, const TensorSpec& b,
                      bool transpose_b) {
  const Side left = LastTwo(a, transpose_a, true), right = LastTwo(b, transpose_b, false);
  MatmulPlan p;
  p.one = {left.rows, right.cols, left.cols, left.matrix, right.matrix, right.cols};
  const int rank = std::max(std::max(a.shape.rank(), b.shape.rank()) - 2, 0);
  for (int d = 0; d < rank; ++d) {
    const BatchDim da = BatchDimOf(a, d, rank), db = BatchDimOf(b, d, rank);
    const int64_t size = da.size == 1 ? db.size : da.size;
    if (size == 1) continue;
    p.batch.push_back(size);
    p.a_batch.push_back(da.stride);
    p.b_batch.push_back(db.stride);
    p.batches *= size;
  }
  p.a_batch.rank = p.b_batch.rank = p.batch.rank;
  FoldBatch(&p);
  return p;
}

}  // namespace firn

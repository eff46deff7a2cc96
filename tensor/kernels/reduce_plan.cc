// Planning a reduction.
//
// Reduced dimensions may be walked in any order, so they are sorted by stride. The inner loop
// follows the smaller stride: along the last reduced dimension (rows: one result after the other),
// or along the last kept one (columns: a strip of results at a time, one row of each after the
// other, as in the sum over a batch).

#include "firn/tensor/kernels/reduce_plan.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "firn/tensor/problems/reduction.h"

namespace firn {
namespace {

// Reduced runs this short are not worth an inner loop of their own.
constexpr int64_t kShortRun = 16;
// Elements of a block by rows, and rows of a block by columns.
constexpr int64_t kBlock = 16384, kMostRows = 4096;
// The number of tasks that is enough for any number of threads.
constexpr int64_t kManyTasks = 64;

void SortByStride(Dims* sizes, Dims* strides) {
  for (int i = 1; i < sizes->rank; ++i) {
    for (int j = i; j > 0 && std::abs((*strides)[j - 1]) < std::abs((*strides)[j]); --j) {
      std::swap((*strides)[j - 1], (*strides)[j]);
      std::swap((*sizes)[j - 1], (*sizes)[j]);
    }
  }
}

// Drops dimensions of size 1 and merges neighbours.
void Merge(Dims* sizes, Dims* strides) {
  int last = -1;
  for (int d = 0; d < sizes->rank; ++d) {
    const int64_t size = (*sizes)[d], stride = (*strides)[d];
    if (size == 1) continue;
    if (last >= 0 && (*strides)[last] == size * stride) {
      (*sizes)[last] *= size;
    } else {
      (*sizes)[++last] = size;
    }
    (*strides)[last] = stride;
  }
  sizes->rank = strides->rank = last + 1;
}

bool ByColumns(const ReducePlan& p) {
  if (p.kept_sizes.rank == 0 || p.reduced_sizes.rank == 0) return false;
  const int k = p.kept_sizes.rank - 1, r = p.reduced_sizes.rank - 1;
  if (p.reduced_sizes[r] < kShortRun && p.kept_sizes[k] > p.reduced_sizes[r]) return true;
  return std::abs(p.kept_strides[k]) < std::abs(p.reduced_strides[r]) &&
         p.kept_sizes[k] >= kShortRun;
}

}  // namespace

ReducePlan PlanReduction(const TensorSpec& in, absl::Span<const int64_t> given) {
  ReducePlan p;
  bool reduced[kMaxRank] = {};
  const absl::StatusOr<Dims> dims = NormalizeDims(given, in.shape);
  for (int64_t d : dims->span()) reduced[d] = true;
  const Dims strides = StridesOf(in);
  for (int d = 0; d < in.shape.rank(); ++d) {
    (reduced[d] ? p.reduced_sizes : p.kept_sizes).push_back(in.shape[d]);
    (reduced[d] ? p.reduced_strides : p.kept_strides).push_back(strides[d]);
    (reduced[d] ? p.reduced : p.kept) *= in.shape[d];
  }
  if (p.kept == 0 || p.reduced == 0) return p;
  SortByStride(&p.reduced_sizes, &p.reduced_strides);
  Merge(&p.reduced_sizes, &p.reduced_strides);
  Merge(&p.kept_sizes, &p.kept_strides);
  p.columns = ByColumns(p);
  p.block = kBlock;
  if (p.columns) {
    const int64_t tasks = p.kept / p.last_kept() * ((p.last_kept() - 1) / kReduceColumns + 1);
    const int64_t blocks = std::max<int64_t>(1, kManyTasks / tasks);
    p.block = std::clamp(p.reduced / blocks, kLeastReduceBlock, kMostRows);
  }
  p.block = std::min(p.block, p.reduced);
  p.blocks = (p.reduced - 1) / p.block + 1;
  return p;
}

}  // namespace firn

// gather_nd, scatter_nd: advanced indexing with an index tensor for each place of the tuples.
// Updates that are combined go to rows of x, whose numbers are computed from the tuples.

#include "firn/tensor/ops/index/nd.h"

#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/index/advanced.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// The length of the tuples.
int CheckTuples(const Tensor& x, const Tensor& indices, int64_t batch_dims, const char* op) {
  CheckDefined(x, op);
  CheckDefined(indices, op, "indices");
  if (!Contains(kIndex, indices.dtype()) || indices.rank() == 0) {
    RaiseStatus(
        InvalidArgument("indices must be i32 or i64 [..., k], got ", indices.spec().ToString()),
        op);
  }
  const int64_t k = indices.size(-1);
  bool fits = batch_dims >= 0 && batch_dims < indices.rank() && batch_dims <= x.rank() && k >= 1 &&
              k <= x.rank() - batch_dims;
  for (int d = 0; fits && d < batch_dims; ++d) fits = x.size(d) == indices.size(d);
  if (!fits) {
    RaiseStatus(InvalidArgument("indices ", indices.shape().ToString(), " do not fit x ",
                                x.shape().ToString(), " with batch_dims ", batch_dims),
                op);
  }
  return static_cast<int>(k);
}

std::vector<Tensor> Columns(const Tensor& indices, int k) {
  std::vector<Tensor> columns;
  for (int i = 0; i < k; ++i) columns.push_back(Select(indices, -1, i));
  return columns;
}

// The dimensions of indices but the last, and those of x behind the tuples'.
Shape SelectionShape(const Tensor& x, const Tensor& indices, int k) {
  Dims d;
  const int64_t rank = indices.rank() - 1 + x.rank() - k;
  if (rank > kMaxRank) {
    RaiseStatus(InvalidArgument("the result would have ", rank, " dimensions, at most ", kMaxRank,
                                " are possible"),
                "scatter_nd");
  }
  for (int i = 0; i + 1 < indices.rank(); ++i) d.push_back(indices.size(i));
  for (int i = k; i < x.rank(); ++i) d.push_back(x.size(i));
  return Shape(d.span());
}

// The number of the row of x, viewed as [rows, rest], that each tuple names. It is looked up in the
// numbers of each dimension, so that indices outside of it are refused.
Tensor RowsOf(const Tensor& x, const std::vector<Tensor>& columns) {
  Tensor rows;
  for (size_t i = 0; i < columns.size(); ++i) {
    const int64_t n = x.size(static_cast<int64_t>(i));
    const Tensor numbers = Arange(int64_t{0}, n, int64_t{1}, {.device = x.device()});
    const Tensor at = IndexSelect(numbers, 0, columns[i]);
    rows = i == 0 ? at : Add(Mul(rows, n), at);
  }
  return rows;
}

}  // namespace

Tensor GatherNd(const Tensor& x, const Tensor& indices, Integer batch_dims) {
  const int k = CheckTuples(x, indices, batch_dims, "gather_nd");
  std::vector<Tensor> all;
  for (int d = 0; d < batch_dims; ++d) {
    Dims along(indices.rank() - 1, 1);
    along[d] = x.size(d);
    const Tensor numbers = Arange(int64_t{0}, x.size(d), int64_t{1}, {.device = x.device()});
    all.push_back(Reshape(numbers, along.span()));
  }
  for (Tensor& column : Columns(indices, k)) all.push_back(std::move(column));
  return InNameOf("gather_nd", [&] { return Index(x, all); });
}

Tensor ScatterNd(const Tensor& x, const Tensor& indices, const Tensor& updates,
                 std::optional<ScatterReduction> reduce) {
  constexpr const char* kName = "scatter_nd";
  const int k = CheckTuples(x, indices, 0, kName);
  CheckDefined(updates, kName, "updates");
  const Shape want = SelectionShape(x, indices, k);
  if (updates.shape() != want || updates.dtype() != x.dtype()) {
    RaiseStatus(InvalidArgument("updates must be ", DTypeName(x.dtype()), " ", want.ToString(),
                                ", got ", updates.spec().ToString()),
                kName);
  }
  const std::vector<Tensor> columns = Columns(indices, k);
  return InNameOf(kName, [&] {
    if (!reduce || *reduce == ScatterReduction::kSum) {
      return IndexPut(x, columns, updates, reduce.has_value());
    }
    int64_t rows = 1, rest = 1;
    for (int i = 0; i < x.rank(); ++i) (i < k ? rows : rest) *= x.size(i);
    const Tensor of_rows = RowsOf(x, columns);
    const int64_t count = of_rows.num_elements();
    const Tensor places = Expand(Reshape(of_rows, {count, 1}), {count, rest});
    const Tensor y = ScatterReduce(Reshape(x, {rows, rest}), 0, places,
                                   Reshape(updates, {count, rest}), *reduce);
    return Reshape(y, x.shape());
  });
}

}  // namespace firn

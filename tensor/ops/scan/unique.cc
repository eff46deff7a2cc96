// unique: rows are brought into order, equal ones next to each other, by stable sorts by column
// from the last to the first; elements are rows of one. A row that differs from the one before
// begins a group, whose number is a running sum. Since sorts are stable, a group begins with its
// first row.

#include "firn/tensor/ops/scan/unique.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/index/masks.h"
#include "firn/tensor/ops/index/scatter.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/reduce/truth.h"
#include "firn/tensor/ops/scan/cumulative.h"
#include "firn/tensor/ops/scan/sort.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

Tensor Numbers(int64_t n, Device device) {
  return Arange(int64_t{0}, n, int64_t{1}, {.device = device});
}

// The order of the rows of x [n, m].
Tensor OrderOfRows(const Tensor& x) {
  Tensor order = Numbers(x.size(0), x.device());
  for (int64_t column = x.size(1) - 1; column >= 0; --column) {
    const Tensor keys = IndexSelect(Select(x, 1, column), 0, order);
    order = IndexSelect(order, 0, Argsort(keys, 0, {.stable = true}));
  }
  return order;
}

// Whether row i + 1 differs from row i, [n - 1].
Tensor Changes(const Tensor& rows) {
  const int64_t n = rows.size(0);
  return Any(Ne(Slice(rows, 0, 1, n), Slice(rows, 0, 0, n - 1)), 1);
}

struct Groups {
  Tensor first, inverse, counts;  // of rows; see UniqueResult
};

Groups GroupsOf(const Tensor& rows) {
  const int64_t n = rows.size(0);
  const Device device = rows.device();
  const Tensor order = OrderOfRows(rows);
  if (n == 0) return {order, order, order};
  const Tensor begins =
      Concat({Full({1}, true, DType::kBool, device), Changes(IndexSelect(rows, 0, order))});
  const Tensor group = Sub(Cumsum(Cast(begins, DType::kI64), 0), 1);
  const Tensor starts = Select(Nonzero(begins), 1, 0);
  const Tensor ends = Concat({Slice(starts, 0, 1), Full({1}, n, DType::kI64, device)});
  return {IndexSelect(order, 0, starts), Scatter(Zeros({n}, DType::kI64, device), 0, order, group),
          Sub(ends, starts)};
}

// The groups in the order in which they appear.
Groups ByAppearance(const Groups& g) {
  const int64_t n = g.first.num_elements();
  const Tensor order = Argsort(g.first, 0);
  const Tensor place =
      Scatter(Zeros({n}, DType::kI64, g.first.device()), 0, order, Numbers(n, g.first.device()));
  return {IndexSelect(g.first, 0, order), IndexSelect(place, 0, g.inverse),
          IndexSelect(g.counts, 0, order)};
}

}  // namespace

UniqueResult Unique(const Tensor& x, const UniqueOptions& options) {
  constexpr const char* kName = "unique";
  CheckDefined(x, kName);
  RaiseIfError(CheckHostRead(x), kName);
  const bool flat = !options.dim || x.rank() == 0;
  const absl::StatusOr<int> dim = NormalizeDim(options.dim.value_or(0), x.shape());
  RaiseIfError(dim.status(), kName);
  const Tensor given = flat ? Flatten(x) : x;
  const int at = flat ? 0 : *dim;
  Groups groups;
  {
    NoGradScope no_grad;
    const Tensor slices = Movedim(given, at, 0);
    const int64_t n = slices.size(0);
    groups = GroupsOf(Reshape(slices, {n, n == 0 ? 1 : slices.num_elements() / n}));
    if (!options.sorted) groups = ByAppearance(groups);
  }
  const Tensor inverse = flat ? Reshape(groups.inverse, x.shape()) : groups.inverse;
  return {IndexSelect(given, at, groups.first), groups.first, inverse, groups.counts};
}

}  // namespace firn

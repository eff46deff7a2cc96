// embedding_bag: rows are looked up and brought together: along a dimension where bags are equally
// large, else by the number of each index's bag, which a search in the offsets gives.

#include "firn/tensor/ops/index/embedding_bag.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/index/embedding.h"
#include "firn/tensor/ops/index/scatter.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/scan/search.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

constexpr const char* kName = "embedding_bag";

void CheckOptions(const Tensor& indices, const Tensor& weight, const EmbeddingBagOptions& o) {
  CheckDefined(indices, kName, "indices");
  CheckDefined(weight, kName, "weight");
  const bool flat = indices.rank() == 1;
  if (indices.rank() != 1 && indices.rank() != 2) {
    RaiseStatus(
        InvalidArgument("indices must be [bags, each] or [n], got ", indices.shape().ToString()),
        kName);
  }
  if (weight.rank() != 2 || !IsFloating(weight.dtype())) {
    RaiseStatus(
        InvalidArgument("weight must be floating [n, size], got ", weight.spec().ToString()),
        kName);
  }
  if (o.offsets.defined() != flat) {
    RaiseStatus(InvalidArgument("offsets are for 1-D indices and these alone; indices are ",
                                indices.shape().ToString()),
                kName);
  }
  if (flat && (o.offsets.rank() != 1 || !Contains(kIndex, o.offsets.dtype()))) {
    RaiseStatus(
        InvalidArgument("offsets must be i32 or i64 [bags], got ", o.offsets.spec().ToString()),
        kName);
  }
  if (o.mode > EmbeddingBagMode::kMax) {
    RaiseStatus(InvalidArgument("mode must be sum, mean or max, got ", static_cast<int>(o.mode)),
                kName);
  }
  const Tensor& factors = o.per_sample_weights;
  if (!factors.defined()) return;
  if (factors.shape() != indices.shape() || factors.dtype() != weight.dtype() ||
      o.mode != EmbeddingBagMode::kSum) {
    RaiseStatus(InvalidArgument("per_sample_weights are for the mode sum and must be ",
                                DTypeName(weight.dtype()), " ", indices.shape().ToString(),
                                ", got ", factors.spec().ToString()),
                kName);
  }
}

// Brings together what belongs to each bag, from a row or a number for each index.
class Bags {
 public:
  Bags(const Tensor& indices, const Tensor& offsets) {
    if (!offsets.defined()) return;
    count_ = offsets.num_elements();
    const Tensor places =
        Arange(int64_t{0}, indices.num_elements(), int64_t{1}, {.device = indices.device()});
    const Tensor bag = Sub(Searchsorted(Cast(offsets, DType::kI64), places, true), 1);
    // What lies before the first bag goes to one behind the last, which is cut off.
    of_ = Where(Lt(bag, 0), count_, bag);
  }
  Tensor Sums(const Tensor& x) const {
    if (!of_.defined()) return Sum(x, 1);
    Dims shape = x.shape().dims();
    shape[0] = count_ + 1;
    const Tensor none = Zeros(Shape::Trusted(shape), x.dtype(), x.device());
    return Slice(IndexAdd(none, 0, of_, x), 0, 0, count_);
  }
  // Of no rows -infinity, or 0.
  Tensor Maxima(const Tensor& rows) const {
    if (!of_.defined()) {
      return rows.size(1) > 0 ? Max(rows, 1).values : Sum(rows, 1);
    }
    const Tensor none = Full({count_ + 1, rows.size(1)}, -INFINITY, rows.dtype(), rows.device());
    const Tensor places = Expand(Unsqueeze(of_, 1), rows.shape());
    return Slice(ScatterReduce(none, 0, places, rows, ScatterReduction::kAmax), 0, 0, count_);
  }

 private:
  Tensor of_;  // the bag of each index; undefined where bags are rows
  int64_t count_ = 0;
};

}  // namespace

Tensor EmbeddingBag(const Tensor& indices, const Tensor& weight, const EmbeddingBagOptions& o) {
  CheckOptions(indices, weight, o);
  const Bags bags(indices, o.offsets);
  Tensor rows = Embedding(indices, weight, {.padding_idx = o.padding_idx});
  Tensor counted = Ones(indices.shape(), ComputeDType(weight.dtype()), weight.device());
  if (o.padding_idx) {
    const int64_t padding = *o.padding_idx < 0 ? *o.padding_idx + weight.size(0) : *o.padding_idx;
    const Tensor left_out = Eq(indices, padding);
    const double nothing = o.mode == EmbeddingBagMode::kMax ? -INFINITY : 0.0;
    rows = Where(Unsqueeze(left_out, -1), nothing, rows);
    counted = Where(left_out, 0.0, counted);
  }
  if (o.mode == EmbeddingBagMode::kSum) {
    const Tensor& factors = o.per_sample_weights;
    return bags.Sums(factors.defined() ? Mul(rows, Unsqueeze(factors, -1)) : rows);
  }
  const Tensor counts = Unsqueeze(bags.Sums(counted), 1);
  if (o.mode == EmbeddingBagMode::kMax) return Where(Eq(counts, 0), 0.0, bags.Maxima(rows));
  // A half type need not hold the sums.
  const Tensor sums = bags.Sums(Cast(rows, counts.dtype()));
  return Cast(Div(sums, Maximum(counts, 1)), weight.dtype());
}

}  // namespace firn

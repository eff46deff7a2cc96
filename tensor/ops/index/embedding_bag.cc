// embedding_bag_rows: sums and means of bags that are equally large, added up as they are read.
//
// embedding_bag: calls that, or looks rows up and combines them: along a dimension where bags are
// equally large, else by the number of each index's bag, which a search in the offsets gives.

#include "firn/tensor/ops/index/embedding_bag.h"

#include <algorithm>
#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/index.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/index/embedding.h"
#include "firn/tensor/ops/index/embedding_bag_body.h"
#include "firn/tensor/ops/index/scatter.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/scan/search.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

constexpr const char* kName = "embedding_bag";

absl::Status InferRows(InferContext& c) {
  const int64_t padding = c.attrs<EmbeddingBagAttrs>().padding_idx;
  FIRN_RETURN_IF(padding != kNoIndex && (padding < 0 || padding >= c.shape(1)[0]),
                 OutOfRange("padding_idx ", padding, " is outside [0, ", c.shape(1)[0], ")"));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({c.shape(0)[0], c.shape(1)[1]}));
  c.set_out(0, c.dtype(1), shape);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> BoundsOfRows(const KernelQuery& q, int) {
  return IndexBounds{0, q.in(1).shape[0]};
}

// Computes bags a block of elements at a time, whose sums stay in cache while the rows go by.
struct BagRows {
  static constexpr int64_t kBlock = 64;
  template <class Body>
  static void Bag(const Body& body, int64_t bag) {
    using Acc = typename Body::Acc;
    const auto* const indices = body.indices + bag * body.each;
    int64_t counted = 0;
    for (int64_t k = 0; k < body.each; ++k) counted += body.rows(indices[k]) >= 0 ? 1 : 0;
    const Acc divisor = body.mean && counted > 1 ? static_cast<Acc>(counted) : Acc{1};
    for (int64_t at = 0; at < body.size; at += kBlock) {
      const int64_t n = std::min(kBlock, body.size - at);
      auto* const y = body.y + bag * body.size + at;
      n == kBlock ? Block(body, indices, at, kBlock, divisor, y)
                  : Block(body, indices, at, n, divisor, y);
    }
  }
  template <class Body, class I, class T>
  static FIRN_ALWAYS_INLINE void Block(const Body& body, const I* indices, int64_t at, int64_t n,
                                       typename Body::Acc divisor, T* y) {
    using Acc = typename Body::Acc;
    alignas(64) Acc sums[kBlock] = {}, strip[kBlock];
    for (int64_t k = 0; k < body.each; ++k) {
      if (k + cpu::kRunsAhead < body.each) {
        const int64_t ahead = body.rows(indices[k + cpu::kRunsAhead]);
        if (ahead >= 0) cpu::Prefetch<false>(body.weight + ahead * body.size + at, n);
      }
      const int64_t row = body.rows(indices[k]);
      if (row < 0) continue;
      const T* const from = body.weight + row * body.size + at;
      const Acc* v = strip;
      if constexpr (cpu::kIsHalf<T>) {
        cpu::FloatsOfBlock(from, n, strip);
      } else {
        v = from;
      }
      for (int64_t e = 0; e < n; ++e) sums[e] += v[e];
    }
    for (int64_t e = 0; e < n; ++e) sums[e] /= divisor;
    cpu::StoreFrom(sums, n, y);
  }
};

absl::Status RunBagRows(KernelContext& k) {
  return BagKernel::VisitBag(cpu::Runner(k), k, [&](const auto& body) {
    const int64_t cost = std::max<int64_t>(1, (body.each + 1) * body.size / 8);
    ParallelFor(k.out_spec().shape[0], std::max<int64_t>(1, cpu::kBodyGrain / cost),
                [&](int64_t begin, int64_t end) {
                  for (int64_t bag = begin; bag < end; ++bag) BagRows::Bag(body, bag);
                });
    return absl::OkStatus();
  });
}

void GradRows(GradContext& g) {
  const EmbeddingBagAttrs& a = g.attrs<EmbeddingBagAttrs>();
  const TensorSpec& w = g.input_spec(1);
  const Tensor &indices = g.input(0), &dy = g.grad_output();
  Tensor flow = dy;
  if (a.mean && a.padding_idx == kNoIndex) {
    flow = DivInFloat(dy, std::max<int64_t>(indices.size(1), 1));
  } else if (a.mean) {
    const Tensor counted = Cast(Ne(indices, a.padding_idx), ComputeDType(dy.dtype()));
    flow = DivInFloat(dy, Maximum(Sum(counted, 1, true), 1));
  }
  const Tensor rows = Expand(Unsqueeze(flow, 1), {indices.size(0), indices.size(1), dy.size(1)});
  g.set_grad_input(1, IndexAddWith(ExpandedZeros(w.shape, w.dtype, w.device), indices, rows,
                                   {{.ignored = a.padding_idx}}));
}

FIRN_REGISTER_OP(embedding_bag_rows) {
  return {
      .doc = "The sum or mean of the rows of weight at each row of indices; padding_idx is none.",
      .inputs = {{.name = "indices", .dtypes = kIndex, .min_rank = 2, .max_rank = 2},
                 {.name = "weight", .dtypes = kFloating, .min_rank = 2, .max_rank = 2}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<EmbeddingBagAttrs>(),
      .infer = InferRows,
      .grad = GradRows,
      .saves = {Saved::Input(0)},
      .index_bounds = BoundsOfRows,
      .index_inputs = {0},
      .kernels = cpu::Portable<BagKernel>({.name = "loop"}, {{.name = "rows", .run = RunBagRows}}),
  };
}

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

// Combines the rows or numbers of the indices of each bag.
class Bags {
 public:
  Bags(const Tensor& indices, const Tensor& offsets) {
    if (!offsets.defined()) return;
    count_ = offsets.num_elements();
    const Tensor places =
        Arange(int64_t{0}, indices.num_elements(), int64_t{1}, {.device = indices.device()});
    const Tensor bag = Sub(Searchsorted(Cast(offsets, DType::kI64), places, true), 1);
    // Indices before the first bag go to one behind the last, which is cut off.
    of_ = Where(Lt(bag, 0), count_, bag);
  }
  Tensor Sums(const Tensor& x) const {
    if (!of_.defined()) return Sum(x, 1);
    Dims shape = x.shape().dims();
    shape[0] = count_ + 1;
    const Tensor none = Zeros(Shape::Trusted(shape), x.dtype(), x.device());
    return Slice(IndexAdd(none, 0, of_, x), 0, 0, count_);
  }
  // Without rows -infinity, or 0.
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

Tensor Bagged(const Tensor& indices, const Tensor& weight, const EmbeddingBagOptions& o) {
  if (indices.rank() == 2 && !o.per_sample_weights.defined() && o.mode != EmbeddingBagMode::kMax) {
    int64_t padding = o.padding_idx.value_or(kNoIndex);
    if (padding < 0 && padding != kNoIndex) padding += weight.size(0);
    return Apply1(TheOp<"embedding_bag_rows">(), {indices, weight},
                  EmbeddingBagAttrs{o.mode == EmbeddingBagMode::kMean, padding});
  }
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

}  // namespace

Tensor EmbeddingBag(const Tensor& indices, const Tensor& weight, const EmbeddingBagOptions& o) {
  CheckOptions(indices, weight, o);
  return InNameOf("embedding_bag", [&] { return Bagged(indices, weight, o); });
}

}  // namespace firn

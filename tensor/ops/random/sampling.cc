// randperm: the shuffle of Fisher and Yates. Step i swaps element i with one of i .. n - 1, chosen
// by the i-th pair of random words.
//
// multinomial.
//
// With replacement: a uniform number, looked up in the running sum of the weights. Without: the
// categories with the n smallest keys -log(u) / weight, exponential clocks, which ring in the order
// of successive draws (P. Efraimidis and P. Spirakis, "Weighted random sampling with a reservoir",
// 2006).

#include "firn/tensor/ops/random/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/moments.h"
#include "firn/tensor/kernels/cpu/parts.h"
#include "firn/tensor/kernels/cpu/random.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/random/random_rules.h"
#include "firn/tensor/ops/random/sampling_fn.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

absl::Status InferRandperm(InferContext& c) {
  Dims sizes(1, c.attrs<RandpermAttrs>().n);
  return InferRandom(c, sizes, DType::kI64, SetOf(DType::kI64));
}

// Only the words decide which elements are swapped, so those of a block are prefetched while the
// block before it is swapped.
absl::Status RunRandperm(KernelContext& k) {
  constexpr int64_t kBlock = 2 * cpu::kPhiloxLanes;
  const int64_t n = k.attrs<RandpermAttrs>().n;
  const PhiloxState at = cpu::TakeCounters(k, 0, CeilDiv(n, 2));
  int64_t* out = k.out<int64_t>();
  std::iota(out, out + n, int64_t{0});
  int64_t partners[2][kBlock];
  const auto choose = [&](int64_t first, int64_t* with) {
    if (first >= n) return;
    cpu::PhiloxLanes words;
    cpu::PhiloxBlock(at, static_cast<uint64_t>(first / 2), &words);
    for (int64_t j = 0; j < std::min(kBlock, n - first); ++j) {
      const int64_t i = first + j, lane = j / 2, word = j % 2 * 2;
      const uint64_t ahead =
          BelowFrom(static_cast<uint64_t>(n - i), words.v[word][lane], words.v[word + 1][lane]);
      with[j] = i + static_cast<int64_t>(ahead);
      __builtin_prefetch(out + with[j], 1);
    }
  };
  choose(0, partners[0]);
  for (int64_t first = 0, side = 0; first < n; first += kBlock, side = 1 - side) {
    choose(first + kBlock, partners[1 - side]);
    for (int64_t j = 0; j < std::min(kBlock, n - first); ++j) {
      std::swap(out[first + j], out[partners[side][j]]);
    }
  }
  return absl::OkStatus();
}

FIRN_REGISTER_OP(randperm) {
  return {
      .doc = "The numbers 0 to n - 1 in random order. Not differentiable.",
      .inputs = {GeneratorState()},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RandpermAttrs>(),
      .infer = InferRandperm,
      .random = true,
      .kernels = {{.name = "loop", .run = RunRandperm}},
  };
}

absl::Status InferMultinomial(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckState(c, 0));
  const MultinomialAttrs& a = c.attrs<MultinomialAttrs>();
  Dims sizes = c.shape(1).dims();
  int64_t& last = sizes[sizes.rank - 1];
  FIRN_RETURN_IF(a.n < 0, InvalidArgument("n ", a.n, " is negative"));
  FIRN_RETURN_IF(!a.replacement && a.n > last, InvalidArgument("cannot draw ", a.n, " of ", last,
                                                               " categories without replacement"));
  last = a.n;
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, DType::kI64, shape);
  return absl::OkStatus();
}

struct Category {
  double key;
  int64_t index;
};

struct Rows {
  explicit Rows(const Shape& probs)
      : categories(probs.dim(-1)),
        count(categories == 0 ? 0 : probs.num_elements() / categories),
        grain(std::max<int64_t>(1, 4096 / std::max<int64_t>(categories, 1))) {}
  int64_t categories, count, grain;
};

size_t Workspace(const KernelQuery& q) {
  const Rows rows(q.in(1).shape);
  return static_cast<size_t>(cpu::NumParts(rows.count, rows.grain) * rows.categories) *
         sizeof(Category);
}

// Calls f(weights, at, n) for pieces of row r: its elements from `at` on.
template <class Acc, class F>
void ForEachPiece(const cpu::RowsIn<Acc>& p, const Rows& rows, int64_t r, const F& f) {
  constexpr int64_t kPiece = 1024;
  Acc tile[kPiece];
  for (int64_t at = 0; at < rows.categories; at += kPiece) {
    const int64_t n = std::min(kPiece, rows.categories - at);
    f(p.At(r * rows.categories + at, n, tile), at, n);
  }
}

template <class Acc>
bool IsWeight(Acc v) {
  return v >= 0 && v <= std::numeric_limits<Acc>::max();
}

template <class Acc>
absl::Status CheckWeights(const cpu::RowsIn<Acc>& p, const Rows& rows, const MultinomialAttrs& a) {
  for (int64_t r = 0; r < rows.count; ++r) {
    double sum = 0, positive = 0, weights = 0;
    ForEachPiece(p, rows, r, [&](const Acc* v, int64_t, int64_t n) {
      const auto [added, above] = cpu::SumPairs<double>(
          n, [v](int64_t i) { return std::pair(static_cast<double>(v[i]), v[i] > 0 ? 1.0 : 0.0); });
      int64_t good = 0;
      for (int64_t i = 0; i < n; ++i) good += IsWeight(v[i]) ? 1 : 0;
      sum += added, positive += above, weights += static_cast<double>(good);
    });
    if (weights < static_cast<double>(rows.categories)) [[unlikely]] {
      int64_t i = r * rows.categories;
      while (IsWeight(p[i])) ++i;
      return InvalidArgument("weight ", p[i], " of category ", i % rows.categories, " in row ", r,
                             " is negative or not finite");
    }
    FIRN_RETURN_IF(positive == 0 || !std::isfinite(sum),
                   InvalidArgument("the weights of row ", r, " add up to ", sum));
    FIRN_RETURN_IF(!a.replacement && positive < static_cast<double>(a.n),
                   InvalidArgument("row ", r, " has ", positive, " categories to draw ", a.n,
                                   " from without replacement"));
  }
  return absl::OkStatus();
}

// Draws from row r, with the random numbers from `first` on.
template <class Acc>
void DrawWithReplacement(const cpu::RowsIn<Acc>& p, const Rows& rows, int64_t r,
                         const PhiloxState& at, int64_t first, int64_t n, Category* sums,
                         int64_t* out) {
  double sum = 0;
  int64_t last = 0;  // the last category that can be drawn
  ForEachPiece(p, rows, r, [&](const Acc* w, int64_t begin, int64_t count) {
    double own = sum;  // nothing else has its address
    int64_t drawn = last;
    for (int64_t i = 0; i < count; ++i) {
      const double v = static_cast<double>(w[i]);
      drawn = v > 0 ? begin + i : drawn;
      sums[begin + i].key = own += v;
    }
    sum = own, last = drawn;
  });
  for (int64_t j = 0; j < n; ++j) {
    const double u = UniformAt(at, first + j) * sum;
    const Category* found = std::upper_bound(sums, sums + rows.categories, u,
                                             [](double v, const Category& c) { return v < c.key; });
    out[j] = std::min<int64_t>(found - sums, last);
  }
}

template <class Acc>
void DrawWithoutReplacement(const cpu::RowsIn<Acc>& p, const Rows& rows, int64_t r,
                            const PhiloxState& at, int64_t first, int64_t n, Category* clocks,
                            int64_t* out) {
  ForEachPiece(p, rows, r, [&](const Acc* w, int64_t begin, int64_t count) {
    for (int64_t i = begin; i < begin + count; ++i) {
      const double v = static_cast<double>(w[i - begin]);
      clocks[i] = {RingingTime(v, UniformAt(at, first + i)), i};
    }
  });
  std::partial_sort(clocks, clocks + n, clocks + rows.categories,
                    [](const Category& a, const Category& b) {
                      return a.key != b.key ? a.key < b.key : a.index < b.index;
                    });
  for (int64_t j = 0; j < n; ++j) out[j] = clocks[j].index;
}

absl::Status RunMultinomial(KernelContext& k) {
  const MultinomialAttrs& a = k.attrs<MultinomialAttrs>();
  const Rows rows(k.in_spec(1).shape);
  int64_t* out = k.out<int64_t>();
  return cpu::VisitComputed(k.in_spec(1).dtype, [&]<class Acc>(TypeTag<Acc>) -> absl::Status {
    const cpu::RowsIn<Acc> p(k, 1);
    FIRN_RETURN_IF(rows.categories == 0 && k.out_spec().num_elements() != 0,
                   InvalidArgument("there are no categories to draw from"));
    FIRN_RETURN_IF_ERROR(CheckWeights(p, rows, a));
    const int64_t numbers = a.replacement ? a.n : rows.categories;  // for each row
    const PhiloxState at = cpu::TakeCounters(k, 0, CeilDiv(rows.count * numbers, 2));
    cpu::ForEachPart(rows.count, rows.grain, [&](int64_t part, int64_t begin, int64_t end) {
      Category* memory = k.workspace<Category>() + part * rows.categories;
      for (int64_t r = begin; r < end; ++r) {
        (a.replacement ? DrawWithReplacement<Acc>
                       : DrawWithoutReplacement<Acc>)(p, rows, r, at, r * numbers, a.n, memory,
                                                      out + r * a.n);
      }
    });
    return absl::OkStatus();
  });
}

FIRN_REGISTER_OP(multinomial) {
  return {
      .doc = "Draws categories by their weights. Not differentiable.",
      .inputs = {GeneratorState(), {.name = "probs", .dtypes = kFloating, .min_rank = 1}},
      .outputs = {{.name = "indices"}},
      .attrs = AttrsOf<MultinomialAttrs>(),
      .infer = InferMultinomial,
      .random = true,
      .kernels = {{.name = "loop", .workspace = Workspace, .run = RunMultinomial}},
  };
}

}  // namespace

Tensor Randperm(Integer n, const RandomOptions& options) {
  return Apply1(TheOp<"randperm">(), {GeneratorOf(options).state()}, RandpermAttrs{n});
}

Tensor Multinomial(const Tensor& probs, Integer n, const MultinomialOptions& options) {
  const OpDef& op = TheOp<"multinomial">();
  CheckDefined(probs, op.name, "probs");
  RandomGenerator& generator =
      GeneratorOf({.device = probs.device(), .generator = options.generator});
  return Apply1(op, {generator.state(), probs}, MultinomialAttrs{n, options.replacement});
}

Tensor RandomChoice(const Tensor& x, const Tensor& weights, const Shape& shape,
                    const RandomChoiceOptions& options) {
  CheckDefined(x, "random_choice");
  CheckDefined(weights, "random_choice", "weights");
  if (x.rank() < 1 || weights.shape() != x.shape()) {
    RaiseStatus(InvalidArgument("x and weights must be [..., n] of one shape, got ",
                                x.shape().ToString(), " and ", weights.shape().ToString()),
                "random_choice");
  }
  Dims sizes = x.shape().dims();
  if (sizes.rank - 1 + shape.rank() > kMaxRank) {
    RaiseStatus(
        InvalidArgument("the result of x ", x.shape().ToString(), " and shape ", shape.ToString(),
                        " would have more than ", kMaxRank, " dimensions"),
        "random_choice");
  }
  --sizes.rank;
  for (int i = 0; i < shape.rank(); ++i) sizes[sizes.rank++] = shape[i];
  const Tensor which =
      Multinomial(weights.Detach(), shape.num_elements(), {options.replacement, options.generator});
  return Reshape(Gather(x, -1, which), Shape(sizes.span()));
}

}  // namespace firn

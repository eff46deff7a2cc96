#include <algorithm>
#include <cmath>

#include "firn/tensor/operators.h"
#include "firn/tensor/ops/loss/similarity.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct CosineAttrs {
  int64_t dim = 1;
  double eps = 1e-8;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("eps", eps);
  }
};

double Cosine(const std::vector<double>& a, const std::vector<double>& b, double eps) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return ab / (std::max(std::sqrt(aa), eps) * std::max(std::sqrt(bb), eps));
}

// Calls f(result, vector of x1, vector of x2) for the vectors along `dim` of inputs that broadcast.
template <class F>
RefTensor AlongDim(absl::Span<const RefTensor> in, int64_t dim, F f) {
  const Shape shape = *BroadcastShapes(in[0].shape, in[1].shape);
  const int64_t at = dim < 0 ? dim + shape.rank() : dim;
  Dims rest;
  for (int d = 0; d < shape.rank(); ++d) {
    if (d != at) rest.push_back(shape[d]);
  }
  RefTensor y(Shape::Trusted(rest));
  const auto element = [&](const RefTensor& x, absl::Span<const int64_t> index) {
    std::vector<int64_t> own;
    const int lead = shape.rank() - x.shape.rank();
    for (int d = 0; d < x.shape.rank(); ++d) {
      own.push_back(x.shape[d] == 1 ? 0 : index[static_cast<size_t>(d + lead)]);
    }
    return x.at(own);
  };
  int64_t i = 0;
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> outer) {
    std::vector<double> a, b;
    for (int64_t k = 0; k < shape[static_cast<int>(at)]; ++k) {
      std::vector<int64_t> index(outer.begin(), outer.end());
      index.insert(index.begin() + at, k);
      a.push_back(element(in[0], index));
      b.push_back(element(in[1], index));
    }
    y[i++] = f(a, b);
  });
  return y;
}

FIRN_REGISTER_COMPOSITE(cosine_similarity) {
  s.Declare({{.name = "x1", .dtypes = kFloating}, {.name = "x2", .same_dtype_as = "x1"}},
            {{.name = "y", .same_dtype_as = "x1"}});
  s.Function(
      [](In in, const CosineAttrs& a) { return CosineSimilarity(in[0], in[1], a.dim, a.eps); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const CosineAttrs& a = attrs.get<CosineAttrs>();
    return std::vector<RefTensor>{
        AlongDim(in, a.dim, [&](const std::vector<double>& x, const std::vector<double>& y) {
          return Cosine(x, y, a.eps);
        })};
  });
  s.Add("rows", {Uniform({3, 5}, 0.5, 2), Uniform({3, 5}, 0.5, 2, 2)}, CosineAttrs{});
  s.Add("columns", {Uniform({3, 5}, 0.5, 2), Uniform({3, 5}, 0.5, 2, 2)}, CosineAttrs{0});
  s.Add("channels", {Uniform({2, 8, 3}, 0.5, 2), Uniform({2, 8, 3}, 0.5, 2, 2)}, CosineAttrs{-2});
  s.Add("broadcast", {Uniform({3, 1, 5}, 0.5, 2), Uniform({2, 5}, 0.5, 2, 2)}, CosineAttrs{-1});
  s.Add("vectors", {Uniform({5}, 0.5, 2), Uniform({5}, 0.5, 2, 2)}, CosineAttrs{0});
  s.Add("a large eps", {Uniform({2, 3}, 0.5, 1), Uniform({2, 3}, 0.5, 1, 2)}, CosineAttrs{1, 5});
  s.Add("a zero vector", {Values({0, 0, 1, 2}, {2, 2}), Values({1, 2, 2, 1}, {2, 2})},
        CosineAttrs{})
      .check_gradient = false;
  s.Add("nothing", {Normal({0, 3}), Normal({0, 3})}, CosineAttrs{});
  s.AddLarge("8192x512", {Normal({8192, 512}, 1), Normal({8192, 512}, 2)}, CosineAttrs{}, 6 * 4.2e6,
             33.6e6);
  s.AddError("shapes", {Normal({3, 5}), Normal({3, 4})}, CosineAttrs{}, "do not broadcast");
  s.AddError("dim", {Normal({3, 5}), Normal({3, 5})}, CosineAttrs{2}, "dim 2");
  s.AddError("dtypes", {Normal({3}), Integers({3}, 0, 2)}, CosineAttrs{0},
             ": convert one with To(...)");
}

struct DistanceAttrs {
  double p = 2, eps = 1e-6;
  bool keepdim = false;
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
    v.Field("eps", eps);
    v.Field("keepdim", keepdim);
  }
};

double PNorm(const std::vector<double>& a, const std::vector<double>& b, double p, double eps) {
  double sum = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i] + eps);
    sum += std::pow(d, p);
    largest = std::max(largest, d);
  }
  return std::isinf(p) ? largest : std::pow(sum, 1 / p);
}

FIRN_REGISTER_COMPOSITE(pairwise_distance) {
  s.Declare({{.name = "x1", .dtypes = kFloating}, {.name = "x2", .same_dtype_as = "x1"}},
            {{.name = "y", .same_dtype_as = "x1"}});
  s.Function([](In in, const DistanceAttrs& a) {
    return PairwiseDistance(in[0], in[1], {.p = a.p, .eps = a.eps, .keepdim = a.keepdim});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const DistanceAttrs& a = attrs.get<DistanceAttrs>();
    RefTensor y = AlongDim(in, -1, [&](const std::vector<double>& u, const std::vector<double>& v) {
      return PNorm(u, v, a.p, a.eps);
    });
    if (!a.keepdim) return std::vector<RefTensor>{y};
    Dims kept = y.shape.dims();
    kept.push_back(1);
    y.shape = Shape::Trusted(kept);
    return std::vector<RefTensor>{y};
  });
  // Far from each other, so that half types keep digits of the differences.
  const auto add = [&](const char* name, const Shape& a, const Shape& b, DistanceAttrs attrs) {
    s.Add(name, {Uniform(a, 2, 4), Uniform(b, -3, -1, 2)}, attrs);
  };
  const double inf = INFINITY;
  add("rows", {3, 5}, {3, 5}, {});
  add("kept", {3, 5}, {3, 5}, {2, 1e-6, true});
  add("p = 1", {2, 3, 4}, {2, 3, 4}, {1, 0, false});
  add("p = 3", {3, 4}, {3, 4}, {3, 0.5, false});
  add("p = inf", {3, 4}, {3, 4}, {inf, 1e-6, false});
  add("broadcast", {3, 1, 5}, {2, 5}, {});
  add("vectors", {5}, {5}, {});
  add("nothing", {0, 5}, {0, 5}, {});
  s.AddLarge("8192x512", {Normal({8192, 512}, 1), Normal({8192, 512}, 2)}, DistanceAttrs{},
             4 * 4.2e6, 33.6e6);
  s.AddError("scalars", {Normal({}), Normal({})}, DistanceAttrs{}, "x1 and x2 are 0-d: no vectors");
  s.AddError("p", {Normal({2, 3}), Normal({2, 3})}, DistanceAttrs{-1, 0, false},
             "p must be at least 0");
}

struct EmbeddingLossAttrs {
  double margin = 0;
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("margin", margin);
    v.Field("reduction", reduction);
  }
};

std::vector<RefTensor> Reduced(const RefTensor& losses, Reduction reduction) {
  if (reduction == Reduction::kNone) return {losses};
  RefTensor total{Shape()};
  for (double v : losses.values) total[0] += v;
  if (reduction == Reduction::kMean) total[0] /= static_cast<double>(losses.size());
  return {total};
}

FIRN_REGISTER_COMPOSITE(cosine_embedding_loss) {
  s.Declare({{.name = "x1", .dtypes = kFloating, .min_rank = 1, .max_rank = 2},
             {.name = "x2", .same_dtype_as = "x1"},
             {.name = "target", .dtypes = kNumeric}},
            {{.name = "y", .same_dtype_as = "x1"}});
  s.Function([](In in, const EmbeddingLossAttrs& a) {
    return CosineEmbeddingLoss(in[0], in[1], in[2], {.margin = a.margin, .reduction = a.reduction});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const EmbeddingLossAttrs& a = attrs.get<EmbeddingLossAttrs>();
    int64_t i = 0;
    RefTensor y = AlongDim(in, -1, [&](const std::vector<double>& u, const std::vector<double>& v) {
      const double cos = Cosine(u, v, 1e-8), t = in[2][i++];
      return t == 1 ? 1 - cos : t == -1 ? std::max(0.0, cos - a.margin) : 0.0;
    });
    return Reduced(y, a.reduction);
  });
  const Tensor x1 = Normal({4, 5}, 1), x2 = Normal({4, 5}, 2), t = Values({1, -1, -1, 1});
  const auto add = [&](const char* name, std::vector<Tensor> in, EmbeddingLossAttrs attrs) {
    s.Add(name, std::move(in), attrs).constant_inputs = {2};
  };
  add("mean", {x1, x2, t}, {});
  add("margin", {x1, x2, t}, {-0.9, Reduction::kNone});
  add("integers", {x1, x2, Indices({1, -1, 1, -1})}, {-0.5, Reduction::kSum});
  add("one sample", {Normal({5}, 1), Normal({5}, 2), Values({1}, {})}, {});
  add("another target", {x1, x2, Values({1, 0, -1, 0})}, {0, Reduction::kNone});
  add("no sample", {Normal({0, 3}), Normal({0, 3}), Values({})}, {0, Reduction::kSum});
  s.AddLarge("8192x512",
             {Normal({8192, 512}, 1), Normal({8192, 512}, 2), Integers({8192}, 0, 2) * 2 - 1},
             EmbeddingLossAttrs{}, 6 * 4.2e6, 33.6e6);
  s.AddError("target", {x1, x2, Values({1, 1})}, EmbeddingLossAttrs{},
             "target [2] does not fit x1 [4, 5] (want [4])");
  s.AddError("shapes", {x1, Normal({4, 1}), t}, EmbeddingLossAttrs{},
             "shapes [4, 5] and [4, 1] differ: x2 must be like x1");
}

struct TripletAttrs {
  double margin = 1, p = 2, eps = 1e-6;
  bool swap = false;
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("margin", margin);
    v.Field("p", p);
    v.Field("eps", eps);
    v.Field("swap", swap);
    v.Field("reduction", reduction);
  }
};

std::vector<RefTensor> TripletReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const TripletAttrs& a = attrs.get<TripletAttrs>();
  const auto distance = [&](const RefTensor& u, const RefTensor& v) {
    const RefTensor both[] = {u, v};
    return AlongDim(both, -1, [&](const std::vector<double>& x, const std::vector<double>& y) {
      return PNorm(x, y, a.p, a.eps);
    });
  };
  RefTensor near = distance(in[0], in[1]), far = distance(in[0], in[2]);
  const RefTensor across = distance(in[1], in[2]);
  for (int64_t i = 0; i < near.size(); ++i) {
    const double other = a.swap ? std::min(far[i], across[i]) : far[i];
    near[i] = std::max(0.0, a.margin + near[i] - other);
  }
  return Reduced(near, a.reduction);
}

FIRN_REGISTER_COMPOSITE(triplet_margin_loss) {
  s.Declare({{.name = "anchor", .dtypes = kFloating, .min_rank = 1},
             {.name = "positive", .same_dtype_as = "anchor"},
             {.name = "negative", .same_dtype_as = "anchor"}},
            {{.name = "y", .same_dtype_as = "anchor"}});
  s.Function([](In in, const TripletAttrs& a) {
    return TripletMarginLoss(
        in[0], in[1], in[2],
        {.margin = a.margin, .p = a.p, .eps = a.eps, .swap = a.swap, .reduction = a.reduction});
  });
  s.Reference(TripletReference);
  const auto add = [&](const char* name, const Shape& shape, TripletAttrs attrs) {
    s.Add(name, {Uniform(shape, 2, 4, 1), Uniform(shape, -3, -1, 2), Uniform(shape, 5, 7, 3)},
          attrs);
  };
  add("mean", {3, 5}, {});
  add("sum, p = 1", {2, 3, 4}, {8, 1, 1e-6, false, Reduction::kSum});
  add("none, swap", {4, 3}, {20, 2, 1e-6, true, Reduction::kNone});
  add("one sample", {5}, {});
  add("no sample", {0, 5}, {1, 2, 1e-6, false, Reduction::kSum});
  s.AddLarge("8192x512", {Normal({8192, 512}, 1), Normal({8192, 512}, 2), Normal({8192, 512}, 3)},
             TripletAttrs{}, 8 * 4.2e6, 50.3e6);
  const Tensor x = Normal({2, 3});
  s.AddError("margin", {x, x, x}, TripletAttrs{0}, "margin must be above 0, got 0");
  s.AddError("shapes", {x, x, Normal({1, 3})}, TripletAttrs{}, "negative must be like anchor");
}

}  // namespace
}  // namespace firn::testing

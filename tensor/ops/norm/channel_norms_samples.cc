#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/norm/channel_norms.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct InstanceNormAttrs {
  double eps = 1e-5;
  template <class V>
  void Visit(V& v) {
    v.Field("eps", eps);
  }
};

FIRN_REGISTER_COMPOSITE(instance_norm) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 3},
             {.name = "weight", .same_dtype_as = "x", .optional = true},
             {.name = "bias", .same_dtype_as = "x", .optional = true}});
  s.Function(
      [](In in, const InstanceNormAttrs& a) { return InstanceNorm(in[0], in[1], in[2], a.eps); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RefTensor& x = in[0];
    RefTensor y(x.shape);
    const int64_t n = x.shape[0], c = x.shape[1], size = n * c == 0 ? 0 : x.size() / (n * c);
    for (int64_t row = 0; size > 0 && row < n * c; ++row) {
      double mean = 0, var = 0;
      const auto count = static_cast<double>(size);
      for (int64_t i = 0; i < size; ++i) mean += x[row * size + i] / count;
      for (int64_t i = 0; i < size; ++i) var += std::pow(x[row * size + i] - mean, 2) / count;
      const double scale = 1 / std::sqrt(var + attrs.get<InstanceNormAttrs>().eps);
      for (int64_t i = row * size; i < (row + 1) * size; ++i) {
        y[i] = (x[i] - mean) * scale * (in[1].defined() ? in[1][row % c] : 1) +
               (in[2].defined() ? in[2][row % c] : 0);
      }
    }
    return std::vector<RefTensor>{y};
  });
  const Tensor none;
  s.Add("images", {Normal({2, 3, 2, 4}), Normal({3}, 2), Normal({3}, 3)}, InstanceNormAttrs{});
  s.Add("sequences, eps", {Normal({2, 3, 5}), none, none}, InstanceNormAttrs{0.1});
  s.Add("blocked channels", {Normal({2, 16, 3, 3}), Normal({16}, 2), none}, InstanceNormAttrs{});
  s.Add("nothing", {Normal({0, 3, 4}), none, none}, InstanceNormAttrs{});
  s.AddLarge("32x64x32x32", {Normal({32, 64, 32, 32}), Normal({64}, 2), Normal({64}, 3)},
             InstanceNormAttrs{}, 8 * 2.1e6, 16.8e6);
  s.AddError("one value", {Normal({2, 3, 1}), none, none}, InstanceNormAttrs{},
             "x must be [n, c, ...] with more than one value per channel, got [2, 3, 1]");
  s.AddError("weight", {Normal({2, 3, 4}), Normal({4}), none}, InstanceNormAttrs{}, "[4]");
}

struct LocalResponseNormAttrs {
  int64_t size = 5;
  double alpha = 1e-4, beta = 0.75, k = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("size", size);
    v.Field("alpha", alpha);
    v.Field("beta", beta);
    v.Field("k", k);
  }
};

FIRN_REGISTER_COMPOSITE(local_response_norm) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 3}});
  s.Function([](In in, const LocalResponseNormAttrs& a) {
    return LocalResponseNorm(in[0], a.size, {.alpha = a.alpha, .beta = a.beta, .k = a.k});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<LocalResponseNormAttrs>();
    const RefTensor& x = in[0];
    RefTensor y(x.shape);
    ForEachIndex(x.shape, [&](absl::Span<const int64_t> at) {
      double squares = 0;
      std::vector<int64_t> other(at.begin(), at.end());
      for (int64_t i = -(a.size / 2); i <= (a.size - 1) / 2; ++i) {
        other[1] = at[1] + i;
        if (other[1] >= 0 && other[1] < x.shape[1]) squares += std::pow(x.at(other), 2);
      }
      y.at(at) = x.at(at) / std::pow(a.k + a.alpha * squares / static_cast<double>(a.size), a.beta);
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("images", {Normal({2, 7, 3, 2})}, LocalResponseNormAttrs{5, 0.5});
  s.Add("even size", {Normal({2, 5, 4})}, LocalResponseNormAttrs{2, 1, 0.5, 2});
  s.Add("wider than the channels", {Normal({1, 2, 3})}, LocalResponseNormAttrs{9, 2, 1});
  s.Add("one channel at a time", {Normal({2, 3, 2})}, LocalResponseNormAttrs{1, 1});
  s.Add("blocked channels", {Normal({1, 16, 2, 2})}, LocalResponseNormAttrs{});
  s.Add("nothing", {Normal({0, 3, 2})}, LocalResponseNormAttrs{});
  s.AddLarge("32x64x32x32", {Normal({32, 64, 32, 32})}, LocalResponseNormAttrs{}, 12 * 2.1e6,
             16.8e6);
  s.AddError("size", {Normal({1, 2, 3})}, LocalResponseNormAttrs{0},
             "size must be 1 or more, got 0");
  s.AddError("rank", {Normal({2, 3})}, LocalResponseNormAttrs{},
             "x must have at least 3 dimensions, got f64 [2, 3]");
}

struct MeanSubtractionAttrs {
  int64_t base_dim = 1;
  bool training = true;
  template <class V>
  void Visit(V& v) {
    v.Field("base_dim", base_dim);
    v.Field("training", training);
  }
};

// What training leaves in the mean and in the count, then x less that mean.
std::vector<RefTensor> LessMean(absl::Span<const RefTensor> in, AttrsRef attrs) {
  RefTensor mean = in[1], count = in[2], y = in[0];
  const int64_t n = mean.size();
  if (attrs.get<MeanSubtractionAttrs>().training && y.size() > 0) {
    count[0] += 1;
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t at = i; at < y.size(); at += n) sum += in[0][at];
      mean[i] +=
          (sum * static_cast<double>(n) / static_cast<double>(y.size()) - mean[i]) / count[0];
    }
  }
  for (int64_t i = 0; i < y.size(); ++i) y[i] -= mean[i % n];
  return {mean, count, y};
}

FIRN_REGISTER_COMPOSITE(mean_subtraction) {
  s.Declare({{.name = "x", .dtypes = kFloating},
             {.name = "running_mean", .same_dtype_as = "x", .inout = true},
             {.name = "count", .dtypes = SetOf(DType::kI64), .inout = true}});
  s.Function([](In in, const MeanSubtractionAttrs& a) {
    return MeanSubtraction(in[0], in[1], in[2], {.base_dim = a.base_dim, .training = a.training});
  });
  s.WithoutVectors("PyTorch does not have it");
  s.Reference(LessMean);
  const Tensor first = Indices({0}), later = Indices({3}, {});
  s.Add("the first batch", {Normal({4, 3}), Normal({3}, 2), first}, MeanSubtractionAttrs{});
  s.Add("images", {Normal({2, 8, 3, 2}), Normal({8, 3, 2}, 2), later}, MeanSubtractionAttrs{});
  s.Add("two batch dimensions", {Normal({2, 3, 4}), Normal({4}, 2), later},
        MeanSubtractionAttrs{2});
  s.Add("no batch", {Normal({3}), Normal({3}, 2), later}, MeanSubtractionAttrs{0});
  s.Add("evaluation", {Normal({4, 3}), Normal({3}, 2), later}, MeanSubtractionAttrs{1, false});
  s.Add("nothing", {Normal({0, 3}), Normal({3}, 2), later}, MeanSubtractionAttrs{});
  s.AddLarge("32x64x32x32", {Normal({32, 64, 32, 32}), Normal({64, 32, 32}, 2), later},
             MeanSubtractionAttrs{}, 2 * 2.1e6, 16.8e6);
  s.AddError("mean", {Normal({4, 3}), Normal({4}), later}, MeanSubtractionAttrs{},
             "running_mean [4] does not fit x [4, 3] from dimension 1 on");
  s.AddError("count", {Normal({4, 3}), Normal({3}), Indices({1, 2})}, MeanSubtractionAttrs{},
             "count be i64 of one element");
}

}  // namespace
}  // namespace firn::testing

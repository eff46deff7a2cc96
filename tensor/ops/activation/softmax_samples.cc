#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/scan/line_samples.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<RefTensor> ReferenceSoftmax(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor& x = in[0];
  RefTensor y(x.shape);
  ForEachLine(x.shape, attrs.get<DimAttrs>().dim, [&](int64_t n, int64_t first, int64_t step) {
    double top = -kInf, sum = 0;
    for (int64_t j = 0; j < n; ++j) top = std::max(top, x[first + j * step]);
    for (int64_t j = 0; j < n; ++j) sum += std::exp(x[first + j * step] - top);
    for (int64_t j = 0; j < n; ++j) {
      y[first + j * step] = std::exp(x[first + j * step] - top) / sum;
    }
  });
  return {y};
}

std::vector<RefTensor> GradReferenceSoftmax(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &dy = in[0], &y = in[1];
  RefTensor dx(y.shape);
  ForEachLine(y.shape, attrs.get<DimAttrs>().dim, [&](int64_t n, int64_t first, int64_t step) {
    double dot = 0;
    for (int64_t j = 0; j < n; ++j) dot += dy[first + j * step] * y[first + j * step];
    for (int64_t j = 0; j < n; ++j) {
      dx[first + j * step] = y[first + j * step] * (dy[first + j * step] - dot);
    }
  });
  return {dx};
}

// A row of numbers, and three more: with some -inf, with nothing else, and with one +inf.
Tensor RowsWithInfinities(int64_t length) {
  std::vector<double> values = Normal({4, length}).ToVector<double>();
  const auto n = static_cast<size_t>(length);
  for (size_t i = n; i < 2 * n; i += 3) values[i] = -kInf;
  std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(2 * n), n, -kInf);
  values[4 * n - 2] = kInf;
  return Values(std::move(values), {4, length});
}

void AddSoftmaxSamples(Samples& s) {
  s.Add("a vector", {Normal({5})}, DimAttrs{0});
  s.Add("rows", {Normal({3, 5})}, DimAttrs{1});
  s.Add("columns", {Normal({3, 5})}, DimAttrs{0});
  s.Add("channels", {Normal({2, 3, 4, 5})}, DimAttrs{-3});
  s.Add("a scalar", {Normal({})}, DimAttrs{-1});
  s.Add("long rows", {Normal({2, 1300})}, DimAttrs{1}).check_gradient = false;
  for (const int64_t length : {17, 32, 100, 256, 257, 1000, 1024}) {
    s.Add(absl::StrCat("rows of ", length), {RowsWithInfinities(length)}, DimAttrs{1})
        .check_gradient = false;
  }
  s.Add("wide columns", {Normal({3, 300})}, DimAttrs{0}).check_gradient = false;
  s.AddLarge("4096x1000", {Normal({4096, 1000})}, DimAttrs{1}, 5 * 4.1e6, 32.8e6);
  s.AddError("int", {Integers({3, 5}, 0, 9)}, DimAttrs{1}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(softmax) {
  s.Function([](In in, const DimAttrs& a) { return Softmax(in[0], a.dim); });
  s.Reference(ReferenceSoftmax);
  AddSoftmaxSamples(s);
  s.Add("large values", {Uniform({2, 6}, -1e4, 1e4)}, DimAttrs{-1});
  s.Add("infinities", {Values({-kInf, 1, 2, -kInf, -kInf, -kInf, 3, -kInf, 0}, {3, 3})},
        DimAttrs{1})
      .check_gradient = false;
  s.Add("empty lines", {Normal({3, 0})}, DimAttrs{1});
  s.AddLarge("16x20x64x64 channels", {Normal({16, 20, 64, 64})}, DimAttrs{1}, 5 * 1.3e6, 10.5e6);
  s.AddError("dim", {Normal({3, 5})}, DimAttrs{2}, "dim 2 is outside [3, 5]");
}

FIRN_REGISTER_SAMPLES(softmax_grad) {
  s.Internal("the gradient of softmax");
  s.Reference(GradReferenceSoftmax);
  s.atol_f32 = 2e-6;  // dy - dot cancels
  s.Add("a vector", {Normal({5}), Uniform({5}, 0, 1, 2)}, DimAttrs{0});
  s.Add("rows", {Normal({3, 5}), Uniform({3, 5}, 0, 1, 2)}, DimAttrs{1});
  s.Add("channels", {Normal({2, 3, 4, 5}), Uniform({2, 3, 4, 5}, 0, 1, 2)}, DimAttrs{1});
  s.AddLarge("4096x1000", {Normal({4096, 1000}), Uniform({4096, 1000}, 0, 2e-3, 2)}, DimAttrs{1},
             4 * 4.1e6, 49.2e6);
  s.AddError("shapes", {Normal({3, 5}), Normal({5, 3})}, DimAttrs{1},
             "dy [3, 5] and y [5, 3] differ");
}

std::vector<RefTensor> ReferenceLogSoftmax(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor& x = in[0];
  RefTensor y(x.shape);
  ForEachLine(x.shape, attrs.get<DimAttrs>().dim, [&](int64_t n, int64_t first, int64_t step) {
    double top = -kInf, sum = 0;
    for (int64_t j = 0; j < n; ++j) top = std::max(top, x[first + j * step]);
    for (int64_t j = 0; j < n; ++j) sum += std::exp(x[first + j * step] - top);
    for (int64_t j = 0; j < n; ++j) y[first + j * step] = x[first + j * step] - top - std::log(sum);
  });
  return {y};
}

std::vector<RefTensor> GradReferenceLogSoftmax(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &dy = in[0], &y = in[1];
  RefTensor dx(y.shape);
  ForEachLine(y.shape, attrs.get<DimAttrs>().dim, [&](int64_t n, int64_t first, int64_t step) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += dy[first + j * step];
    for (int64_t j = 0; j < n; ++j) {
      dx[first + j * step] = dy[first + j * step] - std::exp(y[first + j * step]) * sum;
    }
  });
  return {dx};
}

FIRN_REGISTER_SAMPLES(log_softmax) {
  s.Function([](In in, const DimAttrs& a) { return LogSoftmax(in[0], a.dim); });
  s.Reference(ReferenceLogSoftmax);
  AddSoftmaxSamples(s);
  s.Add("values of 100", {Uniform({2, 6}, -100, 100)}, DimAttrs{-1});
  s.Add("values of 10000", {Uniform({2, 6}, -1e4, 1e4)}, DimAttrs{-1}).check_gradient = false;
  s.Add("infinities", {Values({-kInf, 1, 2, 3, -kInf, 0}, {2, 3})}, DimAttrs{1}).check_gradient =
      false;
  s.AddError("dim", {Normal({3, 5})}, DimAttrs{-3}, "dim -3 is outside [3, 5]");
}

FIRN_REGISTER_SAMPLES(log_softmax_grad) {
  s.Internal("the gradient of log_softmax");
  s.Reference(GradReferenceLogSoftmax);
  s.atol_f32 = 2e-6;  // the difference cancels
  s.Add("a vector", {Normal({5}), Uniform({5}, -3, 0, 2)}, DimAttrs{0});
  s.Add("rows", {Normal({3, 5}), Uniform({3, 5}, -3, 0, 2)}, DimAttrs{1});
  s.Add("channels", {Normal({2, 3, 4, 5}), Uniform({2, 3, 4, 5}, -3, 0, 2)}, DimAttrs{1});
  s.AddLarge("4096x1000", {Normal({4096, 1000}), Uniform({4096, 1000}, -8, -6, 2)}, DimAttrs{1},
             4 * 4.1e6, 49.2e6);
  s.AddError("shapes", {Normal({3, 5}), Normal({5, 3})}, DimAttrs{1},
             "dy [3, 5] and y [5, 3] differ");
}

FIRN_REGISTER_COMPOSITE(softmin) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function([](In in, const DimAttrs& a) { return Softmin(in[0], a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor negative = in[0];
    for (double& v : negative.values) v = -v;
    return ReferenceSoftmax({&negative, 1}, attrs);
  });
  s.Add("rows", {Normal({3, 5})}, DimAttrs{1});
  s.Add("columns", {Normal({3, 5})}, DimAttrs{0});
  s.Add("channels", {Normal({2, 8, 4, 5})}, DimAttrs{-3});
  s.Add("a scalar", {Normal({})}, DimAttrs{-1});
  s.AddError("dim", {Normal({3, 5})}, DimAttrs{2}, "dim 2 is outside [3, 5]");
}

}  // namespace
}  // namespace firn::testing

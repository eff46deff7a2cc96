#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/line_samples.h"
#include "tensor/ops/softmax.h"

namespace firn::testing::softmax {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor& x = in[0];
  RefTensor y(x.shape);
  ForEachLine(x.shape, attrs.get<SoftmaxAttrs>().dim, [&](int64_t n, int64_t first, int64_t step) {
    double top = -kInf, sum = 0;
    for (int64_t j = 0; j < n; ++j) top = std::max(top, x[first + j * step]);
    for (int64_t j = 0; j < n; ++j) sum += std::exp(x[first + j * step] - top);
    for (int64_t j = 0; j < n; ++j) {
      y[first + j * step] = std::exp(x[first + j * step] - top) / sum;
    }
  });
  return {y};
}

std::vector<RefTensor> GradReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &dy = in[0], &y = in[1];
  RefTensor dx(y.shape);
  ForEachLine(y.shape, attrs.get<SoftmaxAttrs>().dim, [&](int64_t n, int64_t first, int64_t step) {
    double dot = 0;
    for (int64_t j = 0; j < n; ++j) dot += dy[first + j * step] * y[first + j * step];
    for (int64_t j = 0; j < n; ++j) {
      dx[first + j * step] = y[first + j * step] * (dy[first + j * step] - dot);
    }
  });
  return {dx};
}

}  // namespace

FIRN_REGISTER_SAMPLES(softmax) {
  s.Reference(Reference);
  s.Add("a vector", {Normal({5})}, SoftmaxAttrs{0});
  s.Add("rows", {Normal({3, 5})}, SoftmaxAttrs{1});
  s.Add("columns", {Normal({3, 5})}, SoftmaxAttrs{0});
  s.Add("channels", {Normal({2, 3, 4, 5})}, SoftmaxAttrs{-3});
  s.Add("large values", {Uniform({2, 6}, -1e4, 1e4)}, SoftmaxAttrs{-1});
  s.Add("infinities", {Values({-kInf, 1, 2, -kInf, -kInf, -kInf, 3, -kInf, 0}, {3, 3})},
        SoftmaxAttrs{1})
      .check_gradient = false;
  s.Add("a scalar", {Normal({})}, SoftmaxAttrs{-1});
  s.Add("long rows", {Normal({2, 1300})}, SoftmaxAttrs{1}).check_gradient = false;
  s.Add("wide columns", {Normal({3, 300})}, SoftmaxAttrs{0}).check_gradient = false;
  s.Add("empty lines", {Normal({3, 0})}, SoftmaxAttrs{1});
  s.AddLarge("4096x1000", {Normal({4096, 1000})}, SoftmaxAttrs{1}, 5 * 4.1e6, 32.8e6);
  s.AddLarge("16x20x64x64 channels", {Normal({16, 20, 64, 64})}, SoftmaxAttrs{1}, 5 * 1.3e6,
             10.5e6);
  s.AddError("dim", {Normal({3, 5})}, SoftmaxAttrs{2}, "dim 2 is outside [3, 5]");
  s.AddError("int", {Integers({3, 5}, 0, 9)}, SoftmaxAttrs{1}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(softmax_grad) {
  s.Reference(GradReference);
  s.atol_f32 = 2e-6;  // dy - dot cancels
  s.Add("a vector", {Normal({5}), Uniform({5}, 0, 1, 2)}, SoftmaxAttrs{0});
  s.Add("rows", {Normal({3, 5}), Uniform({3, 5}, 0, 1, 2)}, SoftmaxAttrs{1});
  s.Add("channels", {Normal({2, 3, 4, 5}), Uniform({2, 3, 4, 5}, 0, 1, 2)}, SoftmaxAttrs{1});
  s.AddLarge("4096x1000", {Normal({4096, 1000}), Uniform({4096, 1000}, 0, 2e-3, 2)},
             SoftmaxAttrs{1}, 4 * 4.1e6, 49.2e6);
  s.AddError("shapes", {Normal({3, 5}), Normal({5, 3})}, SoftmaxAttrs{1},
             "dy [3, 5] and y [5, 3] differ");
}

}  // namespace firn::testing::softmax

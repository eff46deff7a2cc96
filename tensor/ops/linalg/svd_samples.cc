#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/tensor/ops/linalg/linalg_samples.h"
#include "firn/tensor/ops/linalg/svd.h"

namespace firn::testing {
namespace {

// From the eigenvalues of the smaller of A^T A and A A^T, largest first. Requires: none is 0.
struct RefSvd {
  RefMatrix u;
  std::vector<double> s;
  RefMatrix vh;
};
RefSvd SvdOf(const RefMatrix& a) {
  const bool wide = a.rows < a.columns;
  const RefMatrix tall = wide ? TransposeOf(a) : a;
  const int64_t m = tall.rows, n = tall.columns;
  const RefEigen e = EigenOf(Product(TransposeOf(tall), tall));
  RefMatrix right(n, n), left(m, n);
  std::vector<double> s;
  for (int64_t k = 0; k < n; ++k) {
    s.push_back(std::sqrt(e.values[static_cast<size_t>(n - 1 - k)]));
    for (int64_t i = 0; i < n; ++i) right(i, k) = e.vectors(i, n - 1 - k);
  }
  left = Product(tall, right);
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i = 0; i < m; ++i) left(i, k) /= s[static_cast<size_t>(k)];
  }
  if (wide) std::swap(left, right);
  for (int64_t k = 0; k < n; ++k) {
    const double sign = MakeLargestPositive(left, k);
    for (int64_t i = 0; i < right.rows; ++i) right(i, k) *= sign;
  }
  return {left, s, TransposeOf(right)};
}

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef) {
  const Shape& shape = in[0].shape;
  const int64_t m = shape.dim(-2), n = shape.dim(-1), k = std::min(m, n);
  std::vector<RefMatrix> u, vh;
  std::vector<double> values;
  for (const RefMatrix& a : MatricesOf(in[0])) {
    const RefSvd y = SvdOf(a);
    u.push_back(y.u);
    vh.push_back(y.vh);
    values.insert(values.end(), y.s.begin(), y.s.end());
  }
  std::vector<int64_t> sizes(shape.begin(), shape.end() - 1);
  sizes.back() = k;
  RefTensor s{Shape(sizes)};
  s.values = values;
  return {FromMatrices(shape, u, m, k), s, FromMatrices(shape, vh, k, n)};
}

FIRN_REGISTER_SAMPLES(svd) {
  s.Function([](In in, const SvdAttrs& a) {
    const SvdResult y = Svd(in[0], a.full_matrices);
    return std::vector<Tensor>{y.u, y.s, y.vh};
  });
  s.Reference(Reference);
  s.WithoutVectors("the signs of vectors are free, and PyTorch's are LAPACK's");
  s.atol_f32 = 1e-5;  // rounding errors of the whole matrix rotate vectors
  s.Add("square", {FarApart({4, 4})}, SvdAttrs{});
  s.Add("tall", {FarApart({5, 3})}, SvdAttrs{});
  s.Add("wide", {FarApart({3, 5})}, SvdAttrs{});
  s.Add("a batch", {FarApart({2, 2, 3, 2})}, SvdAttrs{});
  s.Add("square, full", {FarApart({3, 3})}, SvdAttrs{true});
  s.Add("one row", {Normal({1, 1})}, SvdAttrs{});
  s.Add("one column", {Normal({4, 1})}, SvdAttrs{});
  s.Add("ten columns", {FarApart({12, 10})}, SvdAttrs{}).check_gradient = false;
  // Vectors that are not unique have their own test (tests/tensor/linalg_test.cc).
  for (const auto& [name, shape] : {std::pair<const char*, Shape>{"tall, full", {5, 3}},
                                    {"wide, full", {3, 5}},
                                    {"no columns, full", {3, 0}}}) {
    Sample& sample = s.Add(name, {FarApart(shape)}, SvdAttrs{true});
    sample.check_values = sample.check_gradient = false;
  }
  s.Add("no rows", {Normal({0, 3})}, SvdAttrs{});
  s.Add("no matrices", {Normal({0, 3, 3})}, SvdAttrs{});
  s.AddLarge("256x256", {WellConditioned({256, 256})}, SvdAttrs{}, 30.0 * 256 * 256 * 256, 0);
  s.AddError("vector", {Normal({3})}, SvdAttrs{}, "a must have 2 to 8 dimensions");
  s.AddError("infinity",
             {Values({1, 0, 0, 1, 1, std::numeric_limits<double>::infinity(), 0, 1}, {2, 2, 2})},
             SvdAttrs{}, "matrix [1] of a [2, 2, 2] has elements that are not finite");
  s.AddError("half", {Normal({2, 2}).To(DType::kF16)}, SvdAttrs{}, "a must be f32 or f64");
}

}  // namespace
}  // namespace firn::testing

#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/linalg/linalg_samples.h"
#include "firn/tensor/ops/linalg/qr.h"

namespace firn::testing {
namespace {

// Q and R by reflections that are written out as matrices.
std::pair<RefMatrix, RefMatrix> QrOf(const RefMatrix& a) {
  RefMatrix q(a.rows, a.rows), r = a;
  for (int64_t i = 0; i < a.rows; ++i) q(i, i) = 1;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    double tail = 0;
    for (int64_t i = k + 1; i < a.rows; ++i) tail += r(i, k) * r(i, k);
    if (tail == 0) continue;
    RefMatrix v(a.rows, 1), h(a.rows, a.rows);
    v(k, 0) = r(k, k) + std::copysign(std::sqrt(tail + r(k, k) * r(k, k)), r(k, k));
    double square = v(k, 0) * v(k, 0) + tail;
    for (int64_t i = k + 1; i < a.rows; ++i) v(i, 0) = r(i, k);
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < a.rows; ++j) h(i, j) = (i == j) - 2 * v(i, 0) * v(j, 0) / square;
    }
    q = Product(q, h);
    r = Product(h, r);
    for (int64_t i = k + 1; i < a.rows; ++i) r(i, k) = 0;
  }
  return {q, r};
}

RefMatrix Part(const RefMatrix& a, int64_t rows, int64_t columns) {
  RefMatrix p(rows, columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) p(i, j) = a(i, j);
  }
  return p;
}

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const QrMode mode = attrs.get<QrAttrs>().mode;
  const int64_t m = in[0].shape.dim(-2), n = in[0].shape.dim(-1);
  const int64_t k = mode == QrMode::kComplete ? m : std::min(m, n);
  std::vector<RefMatrix> q, r;
  for (const RefMatrix& a : MatricesOf(in[0])) {
    const auto [whole_q, whole_r] = QrOf(a);
    q.push_back(Part(whole_q, m, k));
    r.push_back(Part(whole_r, k, n));
  }
  return {mode == QrMode::kR ? RefTensor(Shape{0}) : FromMatrices(in[0].shape, q, m, k),
          FromMatrices(in[0].shape, r, k, n)};
}

FIRN_REGISTER_SAMPLES(qr) {
  s.Function([](In in, const QrAttrs& a) {
    const QrResult y = Qr(in[0], a.mode);
    return std::vector<Tensor>{y.q, y.r};
  });
  s.Reference(Reference);
  s.atol_f32 = 1e-5;  // rounding errors of whole rows rotate columns of Q
  s.Add("square", {WellConditioned({4, 4})}, QrAttrs{});
  s.Add("tall", {FarApart({5, 3})}, QrAttrs{});
  s.Add("wide", {FarApart({3, 5})}, QrAttrs{});
  s.Add("a batch", {FarApart({2, 2, 4, 3})}, QrAttrs{});
  s.Add("square, complete", {WellConditioned({2, 3, 3})}, QrAttrs{QrMode::kComplete});
  s.Add("wide, complete", {FarApart({3, 4})}, QrAttrs{QrMode::kComplete});
  s.Add("one row", {Normal({1, 1})}, QrAttrs{});
  s.Add("one column", {Normal({4, 1})}, QrAttrs{});
  s.Add("more reflectors than are applied together", {WellConditioned({70, 70})}, QrAttrs{})
      .check_gradient = false;
  s.Add("no rows", {Normal({0, 3})}, QrAttrs{});
  s.Add("no columns", {Normal({2, 3, 0})}, QrAttrs{});
  s.AddLarge("512x512", {WellConditioned({512, 512})}, QrAttrs{}, 8.0 / 3 * 512 * 512 * 512, 0);
  s.AddError("vector", {Normal({3})}, QrAttrs{}, "a must have 2 to 8 dimensions");
  s.AddError("half", {Normal({2, 2}).To(DType::kF16)}, QrAttrs{}, "a must be f32 or f64");
}

}  // namespace
}  // namespace firn::testing

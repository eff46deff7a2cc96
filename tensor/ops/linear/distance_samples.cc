#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/linear/distance.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// Calls f(i, j, k) for the rows i of x and j of y, counted over all batches, and k their distance.
template <class F>
void ForEachPairOfRows(const RefTensor& x, const RefTensor& y, F f) {
  const int64_t n = x.shape.dim(-2), m = y.shape.dim(-2);
  const int64_t rows = n == 0 ? 0 : x.shape.dim(-1) == 0 ? n : x.size() / x.shape.dim(-1);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < m; ++j) f(i, i / n * m + j, i * m + j);
  }
}

RefTensor Distances(const RefTensor& x, const RefTensor& y, double p) {
  Dims shape = x.shape.dims();
  shape[shape.rank - 1] = y.shape.dim(-2);
  RefTensor out(Shape::Trusted(shape));
  const int64_t d = x.shape.dim(-1);
  ForEachPairOfRows(x, y, [&](int64_t i, int64_t j, int64_t at) {
    double sum = 0, largest = 0, count = 0;
    for (int64_t k = 0; k < d; ++k) {
      const double size = std::abs(x[i * d + k] - y[j * d + k]);
      sum += std::pow(size, p);
      largest = std::max(largest, size);
      count += size != 0;
    }
    out[at] = p == 0 ? count : std::isinf(p) ? largest : std::pow(sum, 1 / p);
  });
  return out;
}

FIRN_REGISTER_SAMPLES(cdist) {
  s.Function([](In in, const CdistAttrs& a) { return Cdist(in[0], in[1], a.p); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return std::vector<RefTensor>{Distances(in[0], in[1], attrs.get<CdistAttrs>().p)};
  });
  const double inf = INFINITY;
  for (double p : {2.0, 1.0, inf, 3.0, 1.5}) {
    s.Add("p = " + std::to_string(p), {Distinct({4, 3}, 0.1, 1), Distinct({5, 3}, 0.17, 2)},
          CdistAttrs{p});
  }
  s.Add("p = 0", {Values({1, 2, 3, 4}, {2, 2}), Values({1, 5, 3, 4, 0, 0}, {3, 2})}, CdistAttrs{0})
      .check_gradient = false;
  s.Add("batches, 40 elements", {Normal({2, 3, 40}, 1), Normal({2, 2, 40}, 2)}, CdistAttrs{});
  s.Add("40 elements, p = 1", {Distinct({2, 40}, 0.1, 1), Distinct({2, 40}, 0.17, 2)},
        CdistAttrs{1});
  for (double p : {0.0, 1.0, 2.0, inf}) {  // rows of y fill registers, those of x do not
    s.Add("67 elements of 9 and 37 rows, p = " + std::to_string(p),
          {Normal({2, 9, 67}, 1), Normal({2, 37, 67}, 2)}, CdistAttrs{p})
        .check_gradient = false;
  }
  s.Add("one row", {Normal({1, 7}, 1), Normal({1, 7}, 2)}, CdistAttrs{});
  s.Add("equal rows", {Values({1, 2, 3, 4}, {2, 2}), Values({3, 4, 1, 2}, {2, 2})}, CdistAttrs{})
      .check_gradient = false;
  s.Add("no rows", {Normal({0, 3}), Normal({2, 3})}, CdistAttrs{});
  s.Add("no elements", {Normal({2, 0}), Normal({3, 0})}, CdistAttrs{});
  s.AddLarge("1024x64", {Normal({1024, 64}, 1), Normal({1024, 64}, 2)}, CdistAttrs{}, 3 * 67.1e6,
             4.7e6);
  s.AddError("columns", {Normal({2, 3}), Normal({2, 4})}, CdistAttrs{},
             "x [2, 3] and y [2, 4] must agree but for their rows");
  s.AddError("p", {Normal({2, 3}), Normal({2, 3})}, CdistAttrs{-1}, "p must be at least 0, got -1");
  s.AddError("integers", {Integers({2, 3}, 0, 9), Integers({2, 3}, 0, 9)}, CdistAttrs{},
             "x must be f32 or f64, got");
}

double Slope(double d, double distance, double p) {
  if (distance == 0 || p == 0) return 0;
  const double sign = d > 0 ? 1 : d < 0 ? -1 : 0;
  if (std::isinf(p)) return std::abs(d) == distance ? sign : 0;
  return sign == 0 ? 0 : sign * std::pow(std::abs(d) / distance, p - 1);
}

FIRN_REGISTER_SAMPLES(cdist_grad) {
  s.Internal("the gradient of cdist to x");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const CdistGradAttrs& a = attrs.get<CdistGradAttrs>();
    RefTensor dx(in[1].shape);
    const int64_t d = in[1].shape.dim(-1);
    const auto add = [&](int64_t i, int64_t j, int64_t at) {
      for (int64_t k = 0; k < d; ++k) {
        dx[i * d + k] += in[0][at] * Slope(in[1][i * d + k] - in[2][j * d + k], in[3][at], a.p);
      }
    };
    if (a.turned) {
      ForEachPairOfRows(in[2], in[1], [&](int64_t j, int64_t i, int64_t at) { add(i, j, at); });
    } else {
      ForEachPairOfRows(in[1], in[2], add);
    }
    return std::vector<RefTensor>{dx};
  });
  const auto add = [&](const std::string& name, const Tensor& x, const Tensor& y, double p) {
    for (const bool turned : {false, true}) {
      const Tensor distances = turned ? Cdist(y, x, p) : Cdist(x, y, p);
      s.Add(turned ? name + ", turned" : name, {Normal(distances.shape(), 3), x, y, distances},
            CdistGradAttrs{p, turned});
    }
  };
  add("2", Normal({2, 3, 4}, 1), Normal({2, 2, 4}, 2), 2);
  add("1", Distinct({3, 4}, 0.1), Distinct({2, 4}, 0.17), 1);
  add("3", Normal({3, 4}, 1), Normal({2, 4}, 2), 3);
  add("0", Normal({3, 4}, 1), Normal({2, 4}, 2), 0);
  add("infinity", Values({1, 2, 3, 4}, {2, 2}), Values({4, 3, 0, 0, 1, 0}, {3, 2}), INFINITY);
  add("70 rows of 67, 1", Normal({3, 67}, 1), Normal({70, 67}, 2), 1);
  add("70 rows of 67, 2", Normal({3, 67}, 1), Normal({70, 67}, 2), 2);
  add("batches of 35 rows", Normal({2, 35, 9}, 1), Normal({2, 70, 9}, 2), 2);
  add("70 rows of 67, infinity", Cast(Integers({3, 67}, 0, 90, 1), DType::kF64),
      Cast(Integers({70, 67}, 0, 90, 2), DType::kF64), INFINITY);
  add("equal rows", Values({1, 2, 3, 4}, {2, 2}), Values({3, 4, 1, 2}, {2, 2}), 2);
  add("no rows", Normal({0, 4}), Normal({2, 4}), 2);
  s.AddLarge("1024x64",
             {Normal({1024, 1024}, 3), Normal({1024, 64}, 1), Normal({1024, 64}, 2),
              Uniform({1024, 1024}, 5, 15, 4)},
             CdistGradAttrs{}, 3 * 67.1e6, 9e6);
  s.AddError("dy", {Normal({2, 2}), Normal({3, 4}), Normal({2, 4}), Normal({3, 2})},
             CdistGradAttrs{}, "dy must have shape [3, 2], got [2, 2]");
}

}  // namespace
}  // namespace firn::testing

#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/norm/spectral_norm.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct SpectralAttrs {
  int64_t dim = 0, iterations = 1;
  double eps = 1e-12;
  bool training = true;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("iterations", iterations);
    v.Field("eps", eps);
    v.Field("training", training);
  }
};

void Shorten(RefTensor& v, double eps) {
  double squares = 0;
  for (const double x : v.values) squares += x * x;
  for (double& x : v.values) x /= std::max(std::sqrt(squares), eps);
}

// What training leaves in u and v, then w over u^T W v.
std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const SpectralAttrs& a = attrs.get<SpectralAttrs>();
  RefTensor u = in[1], v = in[2], y = in[0];
  // f(row, column, element) for every element of the matrix.
  const auto each = [&](const auto& f) {
    std::vector<int64_t> columns(static_cast<size_t>(u.size()));  // that were seen of each row
    ForEachIndex(in[0].shape, [&](absl::Span<const int64_t> at) {
      const int64_t row = at[static_cast<size_t>(a.dim)];
      f(row, columns[static_cast<size_t>(row)]++, in[0].at(at));
    });
  };
  for (int64_t i = 0; a.training && i < a.iterations; ++i) {
    std::fill(u.values.begin(), u.values.end(), 0);
    each([&](int64_t row, int64_t column, double w) { u[row] += w * v[column]; });
    Shorten(u, a.eps);
    std::fill(v.values.begin(), v.values.end(), 0);
    each([&](int64_t row, int64_t column, double w) { v[column] += w * u[row]; });
    Shorten(v, a.eps);
  }
  double sigma = 0;
  each([&](int64_t row, int64_t column, double w) { sigma += u[row] * w * v[column]; });
  for (double& w : y.values) w /= sigma;
  return {u, v, y};
}

FIRN_REGISTER_COMPOSITE(spectral_norm) {
  s.Declare({{.name = "w", .dtypes = kFloating, .min_rank = 2},
             {.name = "u", .same_dtype_as = "w", .min_rank = 1, .max_rank = 1, .inout = true},
             {.name = "v", .same_dtype_as = "w", .min_rank = 1, .max_rank = 1, .inout = true}},
            {{.name = "y", .same_dtype_as = "w"}});
  s.Function([](In in, const SpectralAttrs& a) {
    const int64_t iterations = std::min<int64_t>(a.iterations, 10);  // a billion would be legal
    return SpectralNorm(
        in[0], in[1], in[2],
        {.dim = a.dim, .iterations = iterations, .eps = a.eps, .training = a.training});
  });
  s.Reference(Reference);
  // Vectors that are near to the singular ones: sigma is not a difference of large numbers.
  const auto add = [&](const char* name, const Shape& shape, const SpectralAttrs& a) -> Sample& {
    const int64_t rows = shape.dim(a.dim);
    return s.Add(name,
                 {Uniform(shape, 0.5, 2), Uniform({rows}, 0.25, 0.5, 2),
                  Uniform({shape.num_elements() / rows}, 0.25, 0.5, 3)},
                 a);
  };
  add("evaluation", {3, 5}, SpectralAttrs{.training = false});
  add("columns, evaluation", {3, 5}, SpectralAttrs{.dim = 1, .training = false});
  // The gradient takes u and v, which w has moved, for constants.
  add("matrix", {3, 5}, SpectralAttrs{}).check_gradient = false;
  add("filters, several steps", {4, 8, 3, 2}, SpectralAttrs{.iterations = 3}).check_gradient =
      false;
  add("the second dimension", {2, 3, 4}, SpectralAttrs{.dim = 1, .eps = 0.1}).check_gradient =
      false;
  s.AddLarge("1024x1024", {Normal({1024, 1024}), Normal({1024}, 2), Normal({1024}, 3)},
             SpectralAttrs{}, 8 * 1.05e6, 8.4e6);
  s.AddError("rank", {Normal({3}), Normal({3}), Normal({1})}, SpectralAttrs{},
             "w must be floating, of at least 2 dimensions and one element, got f64 [3]");
  s.AddError("u", {Normal({3, 5}), Normal({5}), Normal({5})}, SpectralAttrs{},
             "u must be f64 [3] for w f64 [3, 5] on cpu, got f64 [5] on cpu");
  s.AddError("iterations", {Normal({3, 5}), Normal({3}), Normal({5})},
             SpectralAttrs{.iterations = -1}, "iterations and eps must be 0 or more, got -1");
}

}  // namespace
}  // namespace firn::testing

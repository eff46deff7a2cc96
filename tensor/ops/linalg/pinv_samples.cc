#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/linalg/linalg_samples.h"
#include "firn/tensor/ops/linalg/pinv.h"

namespace firn::testing {
namespace {

// By the normal equations: inv(A^T A) A^T of tall matrices, A^T inv(A A^T) of wide ones. Requires:
// full rank.
RefMatrix PinvOf(const RefMatrix& a) {
  const RefMatrix t = TransposeOf(a);
  if (a.rows >= a.columns) return Solved(Product(t, a), t);
  return TransposeOf(Solved(Product(a, t), a));
}

// The roots of the eigenvalues of A^T A, or of A A^T where that is smaller, descending, of each.
RefTensor SingularValuesOf(const Shape& shape, const std::vector<RefMatrix>& all) {
  std::vector<int64_t> sizes(shape.begin(), shape.end() - 2);
  sizes.push_back(std::min(shape.dim(-2), shape.dim(-1)));
  RefTensor values{Shape(sizes)};
  values.values.clear();
  for (const RefMatrix& a : all) {
    const RefMatrix t = TransposeOf(a);
    const RefEigen e = EigenOf(a.rows >= a.columns ? Product(t, a) : Product(a, t));
    for (size_t k = e.values.size(); k-- > 0;) values.values.push_back(std::sqrt(e.values[k]));
  }
  return values;
}

FIRN_REGISTER_SAMPLES(pinv) {
  s.Function([](In in, const PinvAttrs& a) {
    PinvOptions options{.atol = a.atol};
    if (a.rtol >= 0) options.rtol = a.rtol;
    return Pinv(in[0], options);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    std::vector<RefMatrix> all = MatricesOf(in[0]);
    for (RefMatrix& m : all) m = PinvOf(m);
    return std::vector<RefTensor>{
        FromMatrices(in[0].shape, all, in[0].shape.dim(-1), in[0].shape.dim(-2))};
  });
  s.atol_f32 = 1e-5;  // sums of products with vectors that rounding rotates
  s.Add("square", {WellConditioned({4, 4})}, PinvAttrs{});
  s.Add("tall", {FarApart({4, 2})}, PinvAttrs{});
  s.Add("wide", {FarApart({2, 4})}, PinvAttrs{});
  s.Add("a batch", {FarApart({2, 2, 3, 2})}, PinvAttrs{});
  s.Add("equal singular values", {Values({0, 1, 0, 0, 0, 1, 1, 0, 0}, {3, 3})}, PinvAttrs{});
  s.Add("tolerances", {FarApart({3, 2})}, PinvAttrs{0.01, 0.01});
  s.Add("one row", {Normal({1, 1})}, PinvAttrs{});
  s.Add("no rows", {Normal({2, 0, 3})}, PinvAttrs{});
  s.AddLarge("256x128", {FarApart({256, 128})}, PinvAttrs{}, 30.0 * 128 * 128 * 256, 0);
  s.AddError("vector", {Normal({3})}, PinvAttrs{}, "a must have 2 to 8 dimensions");
  s.AddError("tolerance", {Normal({3, 3})}, PinvAttrs{-1}, "atol is -1 (want >= 0)");
  s.AddError("NaN", {Values({std::nan("")}, {1, 1})}, PinvAttrs{},
             "a [1, 1] has elements that are not finite");
  s.AddError("half", {Normal({2, 2}).To(DType::kF16)}, PinvAttrs{}, "a must be f32 or f64");
}

FIRN_REGISTER_SAMPLES(pinv_values) {
  s.Internal("the first step of lstsq");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    std::vector<RefMatrix> all = MatricesOf(in[0]);
    const RefTensor values = SingularValuesOf(in[0].shape, all);
    for (RefMatrix& m : all) m = PinvOf(m);
    return std::vector<RefTensor>{
        FromMatrices(in[0].shape, all, in[0].shape.dim(-1), in[0].shape.dim(-2)), values};
  });
  s.atol_f32 = 1e-5;  // as pinv
  s.Add("tall", {FarApart({4, 2})}, PinvAttrs{});
  s.Add("wide", {FarApart({2, 2, 4})}, PinvAttrs{});
  s.Add("tolerances", {FarApart({3, 2})}, PinvAttrs{0.01, 0.01});
  s.Add("no rows", {Normal({2, 0, 3})}, PinvAttrs{});
  s.AddLarge("256x128", {FarApart({256, 128})}, PinvAttrs{}, 30.0 * 128 * 128 * 256, 0);
  s.AddError("tolerance", {Normal({3, 3})}, PinvAttrs{-1}, "atol is -1 (want >= 0)");
}

FIRN_REGISTER_COMPOSITE(lstsq) {
  s.Declare({{.name = "a", .dtypes = SetOf(DType::kF32) | SetOf(DType::kF64)},
             {.name = "b", .same_dtype_as = "a"}},
            {{.name = "solution", .same_dtype_as = "a"},
             {.name = "residuals", .same_dtype_as = "a"},
             {.name = "rank", .dtypes = SetOf(DType::kI64), .constant = true},
             {.name = "singular_values", .same_dtype_as = "a", .constant = true}});
  s.Function([](In in) {
    const LstsqResult y = Lstsq(in[0], in[1]);
    return std::vector<Tensor>{y.solution, y.residuals, y.rank, y.singular_values};
  });
  s.WithoutVectors("PyTorch gives residuals of some matrices only");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    const std::vector<RefMatrix> a = MatricesOf(in[0]), b = MatricesOf(in[1]);
    std::vector<RefMatrix> x, residuals;
    std::vector<double> ranks;
    const RefTensor singular = SingularValuesOf(in[0].shape, a);
    const int64_t m = in[0].shape.dim(-2), n = in[0].shape.dim(-1), columns = in[1].shape.dim(-1);
    for (size_t i = 0; i < a.size(); ++i) {
      x.push_back(Product(PinvOf(a[i]), b[i]));
      const RefMatrix y = Product(a[i], x.back());
      RefMatrix squares(1, columns);
      for (int64_t r = 0; r < m; ++r) {
        for (int64_t c = 0; c < columns; ++c) squares(0, c) += std::pow(y(r, c) - b[i](r, c), 2);
      }
      residuals.push_back(squares);
      ranks.push_back(static_cast<double>(std::min(m, n)));
    }
    RefTensor missed = FromMatrices(in[1].shape, residuals, 1, columns);
    const Shape& given = in[0].shape;
    std::vector<int64_t> sizes(given.begin(), given.end() - 2);
    RefTensor rank{Shape(sizes)};
    rank.values = ranks;
    sizes.push_back(columns);
    missed.shape = Shape(sizes);
    return std::vector<RefTensor>{FromMatrices(in[1].shape, x, n, columns), missed, rank, singular};
  });
  s.atol_f32 = 1e-5;  // as pinv
  s.Add("tall", {FarApart({4, 2}), Normal({4, 3}, 2)});
  s.Add("wide", {FarApart({2, 4}), Normal({2, 1}, 2)});
  s.Add("a batch", {FarApart({2, 4, 3}), Normal({2, 4, 2}, 2)});
  s.AddLarge("256x128 of 16", {FarApart({256, 128}), Normal({256, 16}, 2)}, {},
             30.0 * 128 * 128 * 256, 0);
  s.AddError("rows", {FarApart({4, 2}), Normal({3, 3}, 2)}, {},
             "expected matrices of one dtype with as many rows");
}

struct MatrixPowerAttrs {
  int64_t n = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("n", n);
  }
};

FIRN_REGISTER_COMPOSITE(matrix_power) {
  s.Declare({{.name = "a", .dtypes = kFloating | kIntegral}},
            {{.name = "y", .same_dtype_as = "a"}});
  s.Function([](In in, const MatrixPowerAttrs& a) { return MatrixPower(in[0], a.n); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t power = attrs.get<MatrixPowerAttrs>().n;
    std::vector<RefMatrix> all = MatricesOf(in[0]);
    for (RefMatrix& m : all) {
      RefMatrix y(m.rows, m.rows);
      for (int64_t i = 0; i < m.rows; ++i) y(i, i) = 1;
      for (int64_t i = 0; i < std::abs(power); ++i) y = power > 0 ? Product(y, m) : Solved(m, y);
      m = y;
    }
    return std::vector<RefTensor>{
        FromMatrices(in[0].shape, all, in[0].shape.dim(-2), in[0].shape.dim(-1))};
  });
  s.Add("itself", {Normal({3, 3})}, MatrixPowerAttrs{1});
  s.Add("square", {Normal({2, 3, 3})}, MatrixPowerAttrs{2});
  s.Add("fifth", {WellConditioned({3, 3})}, MatrixPowerAttrs{5});
  s.Add("integers", {Integers({2, 2}, 0, 3)}, MatrixPowerAttrs{3});
  s.AddLarge("64x64x64", {Uniform({64, 64, 64}, -0.1, 0.1)}, MatrixPowerAttrs{5},
             3 * 2.0 * 64 * 64 * 64 * 64, 0);
  s.AddError("not square", {Normal({2, 3})}, MatrixPowerAttrs{2}, "a must be square matrices");
  s.AddError("singular", {Values({1, 2, 2, 4}, {2, 2})}, MatrixPowerAttrs{-1},
             "a [2, 2] is singular: pivot 1 is 0");
}

}  // namespace
}  // namespace firn::testing

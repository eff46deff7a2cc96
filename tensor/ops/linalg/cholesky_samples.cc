#include <cmath>

#include "firn/tensor/ops/linalg/cholesky.h"
#include "firn/tensor/ops/linalg/linalg_samples.h"

namespace firn::testing {
namespace {

// Element by element, from the lower triangle (or the upper one, transposed).
RefMatrix CholeskyOf(const RefMatrix& a, bool upper) {
  RefMatrix l(a.rows, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double rest = upper ? a(j, i) : a(i, j);
      for (int64_t k = 0; k < j; ++k) rest -= l(i, k) * l(j, k);
      l(i, j) = i == j ? std::sqrt(rest) : rest / l(j, j);
    }
  }
  return upper ? TransposeOf(l) : l;
}

FIRN_REGISTER_SAMPLES(cholesky) {
  s.Function([](In in, const CholeskyAttrs& a) { return Cholesky(in[0], a.upper); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    std::vector<RefMatrix> all = MatricesOf(in[0]);
    for (RefMatrix& m : all) m = CholeskyOf(m, attrs.get<CholeskyAttrs>().upper);
    return std::vector<RefTensor>{
        FromMatrices(in[0].shape, all, in[0].shape.dim(-2), in[0].shape.dim(-1))};
  });
  // The gradient is that of symmetric changes; differences of single elements give it only for one
  // row; tests/tensor/linalg_test.cc has the others.
  const auto add = [&](const char* name, Tensor a, bool upper) {
    const bool one = a.shape().dim(-1) == 1;
    s.Add(name, {std::move(a)}, CholeskyAttrs{upper}).check_gradient = one;
  };
  // Batches throughout: the suite rolls rows of a single matrix, which is not definite then.
  add("one number", Uniform({1, 1}, 1, 2), false);
  add("one row", Uniform({2, 1, 1}, 1, 2), false);
  add("one row, upper", Uniform({3, 1, 1}, 1, 2), true);
  add("matrices", WellConditioned({2, 4, 4}, 1, true), false);
  add("matrices, upper", WellConditioned({2, 4, 4}, 1, true), true);
  add("one triangle is read", WellConditioned({2, 5, 5}), false);
  add("the upper triangle is read", WellConditioned({2, 5, 5}), true);
  add("a batch", WellConditioned({2, 3, 3, 3}, 2, true), false);
  add("more than a block", WellConditioned({2, 70, 70}, 3, true), false);
  add("three blocks, upper", WellConditioned({2, 150, 150}, 4, true), true);
  add("no rows", Normal({2, 0, 0}), false);
  add("no matrices", Normal({0, 3, 3}), false);
  s.AddLarge("512x512", {WellConditioned({512, 512}, 1, true)}, CholeskyAttrs{}, 512e6 * 0.2624 / 3,
             0);
  s.AddError("not square", {Normal({2, 3, 4})}, CholeskyAttrs{},
             "the matrices of a must be square, got [2, 3, 4]");
  s.AddError("vector", {Normal({3})}, CholeskyAttrs{}, "a must have 2 to 8 dimensions");
  s.AddError("not positive definite", {Values({1, 2, 2, 1}, {2, 2})}, CholeskyAttrs{},
             "a [2, 2] is not positive definite: the leading minor of order 2 is not");
  s.AddError("one of a batch", {Values({1, 0, 0, 1, 1, 0, 0, -1}, {1, 2, 2, 2})}, CholeskyAttrs{},
             "matrix [0, 1] of a [1, 2, 2, 2] is not positive definite");
  s.AddError("half", {Normal({2, 2}).To(DType::kF16)}, CholeskyAttrs{}, "a must be f32 or f64");
  s.AddError("integers", {Integers({2, 2}, 1, 3)}, CholeskyAttrs{}, "a must be f32 or f64");
}

RefMatrix WithTriangle(RefMatrix a, const SolveTriangularAttrs& at) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.rows; ++j) {
      if (i == j && at.unit_diagonal) a(i, j) = 1;
      if (i != j && (i < j) != at.upper) a(i, j) = 0;
    }
  }
  return a;
}

std::vector<RefTensor> ReferenceSolveTriangular(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const SolveTriangularAttrs& at = attrs.get<SolveTriangularAttrs>();
  std::vector<RefMatrix> a = MatricesOf(in[0]), b = MatricesOf(in[1]), x;
  const bool many = a.size() > b.size();  // samples broadcast one matrix or a leading dimension
  for (size_t i = 0; i < std::max(a.size(), b.size()) && !a.empty() && !b.empty(); ++i) {
    RefMatrix m = WithTriangle(a[i % a.size()], at);
    const RefMatrix& right = b[i % b.size()];
    x.push_back(at.left ? Solved(m, right)
                        : TransposeOf(Solved(TransposeOf(m), TransposeOf(right))));
  }
  return {
      FromMatrices(many ? in[0].shape : in[1].shape, x, in[1].shape.dim(-2), in[1].shape.dim(-1))};
}

FIRN_REGISTER_SAMPLES(solve_triangular) {
  s.Function([](In in, const SolveTriangularAttrs& a) {
    return SolveTriangular(in[0], in[1], a.upper,
                           {.left = a.left, .unit_diagonal = a.unit_diagonal});
  });
  s.Reference(ReferenceSolveTriangular);
  const Tensor a = WellConditioned({4, 4});
  s.Add("lower", {a, Normal({4, 3}, 2)}, SolveTriangularAttrs{});
  s.Add("upper", {a, Normal({4, 3}, 2)}, SolveTriangularAttrs{true});
  s.Add("lower, right", {a, Normal({3, 4}, 2)}, SolveTriangularAttrs{false, false});
  s.Add("upper, right", {a, Normal({3, 4}, 2)}, SolveTriangularAttrs{true, false});
  s.Add("lower, unit", {a, Normal({4, 2}, 2)}, SolveTriangularAttrs{false, true, true});
  s.Add("upper, unit, right", {a, Normal({2, 4}, 2)}, SolveTriangularAttrs{true, false, true});
  s.Add("one row", {WellConditioned({1, 1}), Normal({1, 1}, 2)}, SolveTriangularAttrs{});
  s.Add("a batch", {WellConditioned({2, 3, 3}), Normal({2, 3, 2}, 2)}, SolveTriangularAttrs{true});
  s.Add("one a for a batch", {WellConditioned({3, 3}), Normal({2, 3, 2}, 2)},
        SolveTriangularAttrs{});
  s.Add("one b for a batch", {WellConditioned({2, 3, 3}), Normal({1, 3, 2}, 2)},
        SolveTriangularAttrs{true});
  s.Add("three blocks", {WellConditioned({150, 150}, 3), Normal({150, 5}, 2)},
        SolveTriangularAttrs{})
      .check_gradient = false;
  s.Add("three blocks, upper", {WellConditioned({150, 150}, 3), Normal({150, 1}, 2)},
        SolveTriangularAttrs{true})
      .check_gradient = false;
  s.Add("no rows", {Normal({0, 0}), Normal({0, 3}, 2)}, SolveTriangularAttrs{});
  s.Add("no columns", {a, Normal({4, 0}, 2)}, SolveTriangularAttrs{});
  s.AddLarge("512x512 of 512", {WellConditioned({512, 512}), Normal({512, 512}, 2)},
             SolveTriangularAttrs{}, 512.0 * 512 * 512, 0);
  s.AddError("not square", {Normal({3, 4}), Normal({3, 4}, 2)}, SolveTriangularAttrs{},
             "the matrices of a must be square, got [3, 4]");
  s.AddError("rows", {Normal({3, 3}), Normal({2, 3}, 2)}, SolveTriangularAttrs{},
             "b must have matrices of 3 rows like a [3, 3], got [2, 3]");
  s.AddError("columns", {Normal({3, 3}), Normal({3, 2}, 2)}, SolveTriangularAttrs{false, false},
             "b must have matrices of 3 columns like a [3, 3], got [3, 2]");
  s.AddError("batches", {Normal({2, 3, 3}), Normal({4, 3, 2}, 2)}, SolveTriangularAttrs{},
             "the batches of a [2, 3, 3] and b [4, 3, 2] do not broadcast");
  s.AddError("singular", {Values({1, 0, 0, 1, 1, 0, 5, 0}, {2, 2, 2}), Normal({2, 1}, 2)},
             SolveTriangularAttrs{}, "matrix [1] of a [2, 2, 2] is singular: element 1 of its");
  s.AddError("dtypes", {Normal({3, 3}), Normal({3, 3}).To(DType::kF32)}, SolveTriangularAttrs{},
             "a is f64 but b is f32");
}

}  // namespace
}  // namespace firn::testing

#include <cmath>
#include <limits>

#include "firn/tensor/ops/linalg/linalg_samples.h"
#include "firn/tensor/ops/linalg/solve.h"

namespace firn::testing {
namespace {

RefMatrix UnitMatrix(int64_t n) {
  RefMatrix m(n, n);
  for (int64_t i = 0; i < n; ++i) m(i, i) = 1;
  return m;
}

// Matrices whose rows must be exchanged to factor them, with a zero in the place of a pivot.
Tensor Turned() { return Values({0, 2, 1, 1, 1, 0, 3, 0, 1}, {3, 3}); }

void AddErrors(Samples& s) {
  s.AddError("not square", {Normal({2, 3, 4})}, {},
             "the matrices of a must be square, got [2, 3, 4]");
  s.AddError("vector", {Normal({3})}, {}, "a must have 2 to 8 dimensions");
  s.AddError("half", {Normal({2, 2}).To(DType::kBF16)}, {}, "a must be f32 or f64");
}

FIRN_REGISTER_SAMPLES(inv) {
  s.Function<Inv>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    std::vector<RefMatrix> all = MatricesOf(in[0]);
    for (RefMatrix& m : all) m = Solved(m, UnitMatrix(m.rows));
    return std::vector<RefTensor>{
        FromMatrices(in[0].shape, all, in[0].shape.dim(-2), in[0].shape.dim(-1))};
  });
  s.Add("one row", {Uniform({1, 1}, 1, 2)});
  s.Add("a matrix", {WellConditioned({4, 4})});
  s.Add("rows to exchange", {Turned()});
  s.Add("a batch", {WellConditioned({2, 3, 3, 3})});
  s.Add("more than a block", {WellConditioned({2, 70, 70})}).check_gradient = false;
  s.Add("three blocks", {WellConditioned({150, 150})}).check_gradient = false;
  s.Add("no rows", {Normal({2, 0, 0})});
  s.Add("no matrices", {Normal({0, 3, 3})});
  s.AddLarge("512x512", {WellConditioned({512, 512})}, {}, 2.0 * 512 * 512 * 512, 0);
  s.AddLarge("256 x 16x16", {WellConditioned({256, 16, 16})}, {}, 256 * 2.0 * 16 * 16 * 16, 0);
  s.AddError("singular", {Values({1, 2, 2, 4}, {2, 2})}, {}, "a [2, 2] is singular: pivot 1 is 0");
  s.AddError("one of a batch", {Values({1, 0, 0, 1, 0, 0, 0, 0}, {2, 2, 2})}, {},
             "matrix [1] of a [2, 2, 2] is singular: pivot 0 is 0");
  AddErrors(s);
}

FIRN_REGISTER_SAMPLES(solve) {
  s.Function<Solve>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    const std::vector<RefMatrix> a = MatricesOf(in[0]);
    RefTensor b = in[1];
    const bool vectors = b.shape.rank() == 1 || b.shape.rank() == in[0].shape.rank() - 1;
    const int64_t n = in[0].shape.dim(-1);
    if (vectors) {
      std::vector<int64_t> sizes(b.shape.begin(), b.shape.end());
      sizes.push_back(1);
      b.shape = Shape(sizes);
    }
    const std::vector<RefMatrix> right = MatricesOf(b);
    std::vector<RefMatrix> x;
    for (size_t i = 0; i < std::max(a.size(), right.size()); ++i) {
      x.push_back(Solved(a[i % a.size()], right[i % right.size()]));
    }
    RefTensor y =
        FromMatrices(a.size() > right.size() ? in[0].shape : b.shape, x, n, b.shape.dim(-1));
    if (vectors) y.shape = Shape(y.shape.span().first(static_cast<size_t>(y.shape.rank()) - 1));
    return std::vector<RefTensor>{y};
  });
  s.Add("matrices", {WellConditioned({4, 4}), Normal({4, 3}, 2)});
  s.Add("a vector", {WellConditioned({4, 4}), Normal({4}, 2)});
  s.Add("a vector for a batch", {WellConditioned({2, 3, 3}), Normal({3}, 2)});
  s.Add("a batch of vectors", {WellConditioned({2, 3, 3}), Normal({2, 3}, 2)});
  s.Add("one a for a batch", {WellConditioned({3, 3}), Normal({2, 3, 2}, 2)});
  s.Add("one b for a batch", {WellConditioned({2, 3, 3}), Normal({1, 3, 2}, 2)});
  s.Add("rows to exchange", {Turned(), Normal({3, 2}, 2)});
  s.Add("one row", {Uniform({1, 1}, 1, 2), Normal({1, 2}, 2)});
  s.Add("three blocks", {WellConditioned({150, 150}), Normal({150, 5}, 2)}).check_gradient = false;
  s.Add("no rows", {Normal({0, 0}), Normal({0, 2}, 2)});
  s.Add("no columns", {WellConditioned({3, 3}), Normal({3, 0}, 2)});
  s.AddLarge("512x512 of 512", {WellConditioned({512, 512}), Normal({512, 512}, 2)}, {},
             8.0 / 3 * 512 * 512 * 512, 0);
  s.AddError("singular", {Values({1, 2, 2, 4}, {2, 2}), Normal({2}, 2)}, {},
             "a [2, 2] is singular: pivot 1 is 0");
  s.AddError("one of a batch", {Values({1, 0, 0, 1, 0, 0, 0, 0}, {2, 2, 2}), Normal({2, 2, 1}, 2)},
             {}, "matrix [1] of a [2, 2, 2] is singular: pivot 0 is 0");
  s.AddError("rows", {Normal({3, 3}), Normal({2, 3}, 2)}, {},
             "b must have matrices of 3 rows like a [3, 3], or vectors of that size, got [2, 3]");
  s.AddError("batches", {Normal({2, 3, 3}), Normal({4, 3, 2}, 2)}, {},
             "the batches of a [2, 3, 3] and b [4, 3, 2] do not broadcast");
  s.AddError("not square", {Normal({3, 4}), Normal({3, 4}, 2)}, {},
             "the matrices of a must be square, got [3, 4]");
  s.AddError("half", {Normal({2, 2}).To(DType::kF16), Normal({2}).To(DType::kF16)}, {},
             "a must be f32 or f64");
}

FIRN_REGISTER_SAMPLES(det) {
  s.Function<Det>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    std::vector<double> all;
    for (const RefMatrix& m : MatricesOf(in[0])) all.push_back(DeterminantOf(m));
    return std::vector<RefTensor>{FromNumbers(in[0].shape, all)};
  });
  s.Add("one row", {Normal({1, 1})});
  s.Add("a matrix", {WellConditioned({4, 4})});
  s.Add("rows to exchange", {Turned()});
  s.Add("a batch", {WellConditioned({2, 3, 3, 3})});
  s.Add("no rows", {Normal({2, 0, 0})});
  s.Add("no matrices", {Normal({0, 3, 3})});
  // Its first gradient is right too (tests/tensor/linalg_test.cc), the second needs an inverse.
  s.Add("singular", {Values({1, 2, 2, 4, 0, 0, 0, 0}, {2, 2, 2})}).check_gradient = false;
  s.AddLarge("512x512", {WellConditioned({512, 512})}, {}, 2.0 / 3 * 512 * 512 * 512, 0);
  AddErrors(s);
}

FIRN_REGISTER_SAMPLES(slogdet) {
  s.Function([](In in) {
    const SignAndLogAbsDet y = Slogdet(in[0]);
    return std::vector<Tensor>{y.sign, y.logabsdet};
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    std::vector<double> signs, logs;
    for (const RefMatrix& m : MatricesOf(in[0])) {
      const double det = DeterminantOf(m);
      signs.push_back(static_cast<double>(det > 0) - static_cast<double>(det < 0));
      logs.push_back(std::log(std::abs(det)));
    }
    return std::vector<RefTensor>{FromNumbers(in[0].shape, signs), FromNumbers(in[0].shape, logs)};
  });
  s.Add("one row", {Uniform({1, 1}, -2, -1)});
  s.Add("a matrix", {WellConditioned({4, 4})});
  s.Add("rows to exchange", {Turned()});
  s.Add("a batch", {WellConditioned({2, 3, 3, 3})});
  s.Add("three blocks", {WellConditioned({150, 150})}).check_gradient = false;
  s.Add("no rows", {Normal({2, 0, 0})});
  s.AddLarge("512x512", {WellConditioned({512, 512})}, {}, 2.0 / 3 * 512 * 512 * 512, 0);
  AddErrors(s);
}

// Singular matrices, for which the gradient's own gradient is an error:
// tests/tensor/linalg_test.cc.
FIRN_REGISTER_SAMPLES(cofactor) {
  s.Internal("the gradient of det");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    std::vector<RefMatrix> all = MatricesOf(in[0]);
    for (RefMatrix& m : all) {
      const RefMatrix a = m;
      for (int64_t i = 0; i < a.rows; ++i) {
        for (int64_t j = 0; j < a.rows; ++j) {  // what the determinant has for element (i, j)
          RefMatrix unit = a;
          for (int64_t k = 0; k < a.rows; ++k) unit(i, k) = k == j;
          m(i, j) = DeterminantOf(unit);
        }
      }
    }
    return std::vector<RefTensor>{
        FromMatrices(in[0].shape, all, in[0].shape.dim(-2), in[0].shape.dim(-1))};
  });
  s.Add("one row", {Uniform({1, 1}, 1, 2)});
  s.Add("a matrix", {WellConditioned({4, 4})});
  s.Add("rows to exchange", {Turned()});
  s.Add("a batch", {WellConditioned({2, 2, 3, 3})});
  s.Add("no rows", {Normal({2, 0, 0})});
  AddErrors(s);
}

}  // namespace
}  // namespace firn::testing

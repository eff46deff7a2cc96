#include <cmath>

#include "firn/tensor/ops/linalg/eigh.h"
#include "firn/tensor/ops/linalg/linalg_samples.h"

namespace firn::testing {
namespace {

RefMatrix Mirrored(RefMatrix a, bool upper) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < i; ++j) (upper ? a(i, j) : a(j, i)) = upper ? a(j, i) : a(i, j);
  }
  return a;
}

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const Shape& shape = in[0].shape;
  const int64_t n = shape.dim(-1);
  RefTensor values{Shape(shape.span().first(static_cast<size_t>(shape.rank()) - 1))};
  values.values.clear();
  std::vector<RefMatrix> vectors;
  for (const RefMatrix& a : MatricesOf(in[0])) {
    const RefEigen e = EigenOf(Mirrored(a, attrs.get<EighAttrs>().upper));
    values.values.insert(values.values.end(), e.values.begin(), e.values.end());
    vectors.push_back(e.vectors);
  }
  return {values, FromMatrices(shape, vectors, n, n)};
}

FIRN_REGISTER_SAMPLES(eigh) {
  s.Function([](In in, const EighAttrs& a) {
    const EighResult y = Eigh(in[0], a.upper);
    return std::vector<Tensor>{y.values, y.vectors};
  });
  s.Reference(Reference);
  s.WithoutVectors("the signs of vectors are free, and PyTorch's are LAPACK's");
  s.atol_f32 = 1e-5;  // rounding errors of the whole matrix rotate vectors
  // The gradient is that of symmetric changes; differences of single elements give it only for one
  // row; tests/tensor/linalg_test.cc has the others.
  const auto add = [&](const char* name, Tensor a, bool upper) {
    const bool one = a.shape().dim(-1) == 1;
    s.Add(name, {std::move(a)}, EighAttrs{upper}).check_gradient = one;
  };
  add("one row", Normal({2, 1, 1}), false);
  add("a matrix", FarApart({4, 4}, 1, true), false);
  add("one triangle is read", FarApart({4, 4}), false);
  add("the upper triangle is read", FarApart({4, 4}), true);
  add("a batch", FarApart({2, 2, 3, 3}, 2, true), false);
  add("ten rows", FarApart({10, 10}, 3, true), false);
  add("diagonal", Values({3, 0, 0, 0, -1, 0, 0, 0, 2}, {3, 3}), false);
  add("largest elements of both signs", Values({3, 7, 1, 3, 0, 5, 3, 0, 0}, {3, 3}), false);
  add("no rows", Normal({2, 0, 0}), false);
  add("no matrices", Normal({0, 3, 3}), false);
  s.AddLarge("256x256", {WellConditioned({256, 256}, 1, true)}, EighAttrs{}, 9.0 * 256 * 256 * 256,
             0);
  s.AddError("not square", {Normal({2, 3, 4})}, EighAttrs{},
             "the matrices of a must be square, got [2, 3, 4]");
  s.AddError("NaN", {Values({1, 0, 0, 1, 1, std::nan(""), std::nan(""), 1}, {2, 2, 2})},
             EighAttrs{}, "matrix [1] of a [2, 2, 2] has elements that are not finite");
  s.AddError("half", {Normal({2, 2}).To(DType::kF16)}, EighAttrs{}, "a must be f32 or f64");
}

}  // namespace
}  // namespace firn::testing

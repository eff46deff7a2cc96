// Orthogonal matrices, made of operations, so that they have gradients of any order and can be
// captured.
//
// All work on tall matrices X, [..., n, k] with n >= k; wide ones are transposed before and after.
//
// matrix_exp  of the skew-symmetric A, [n, n], by scaling and squaring: r(A / 2^s)^(2^s) with the
//             Pade approximant r of degree 13 (Higham, "The scaling and squaring method for the
//             matrix exponential revisited", 2005). Since A is skew-symmetric, r = p(A) p(-A)^-1 is
//             orthogonal. s depends on A without being read on the host: all of kSquarings squares
//             are computed, and the first s of them are taken. If s is larger, that is too few, but
//             the squared matrix is orthogonal as before. householder by the compact form
//             (Schreiber and Van Loan, "A storage-efficient WY representation
//             for products of Householder transformations", 1989): the reflections about the
//             columns of V, [n, k], are I - V T V^T in which T^-1 is the upper triangle of V^T V,
//             its diagonal halved. One triangular system instead of k products.

#include <algorithm>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/nn/parametrizations.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/linalg/cholesky.h"
#include "firn/tensor/ops/linalg/qr.h"
#include "firn/tensor/ops/linalg/solve.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/diagonal.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::nn::parametrize {
namespace {

constexpr const char* kName = "parametrize::Orthogonal";

bool IsWide(const Tensor& x) { return x.size(-2) < x.size(-1); }
Tensor Transposed(const Tensor& x) { return Transpose(x, -2, -1); }
Tensor Tall(const Tensor& x) { return IsWide(x) ? Transposed(x) : x; }

Tensor Identity(int64_t n, int64_t k, const Tensor& like) {
  return Eye(n, k, 0, like.dtype(), like.device());
}
Tensor Identity(const Tensor& like) { return Identity(like.size(-2), like.size(-1), like); }

// x's shape with other last sizes.
Shape MatricesLike(const Tensor& x, int64_t rows, int64_t columns) {
  Dims sizes = x.shape().dims();
  sizes.d[sizes.rank - 2] = rows;
  sizes.d[sizes.rank - 1] = columns;
  return Shape(sizes.span());
}

// A = X - X^T of the lower triangle of X, with zeros in the columns that a tall X lacks.
Tensor SkewOf(const Tensor& x) {
  const int64_t n = x.size(-2), k = x.size(-1);
  Tensor lower = Tril(x);
  if (n != k) {
    lower = Concat({lower, Zeros(MatricesLike(x, n, n - k), x.dtype(), x.device())}, -1);
  }
  return lower - Transposed(lower);
}

Tensor Cayley(const Tensor& a) {
  const Tensor half = a * 0.5, one = Identity(a);
  return Solve(one - half, one + half);
}

// p(A) p(-A)^-1, the approximant of degree 13.
Tensor PadeExp(const Tensor& a) {
  // Coefficients of numerator and denominator, divided by the first; those of odd powers change
  // sign.
  double c[14] = {1};
  for (int i = 1; i <= 13; ++i) c[i] = c[i - 1] * (14 - i) / (i * (27 - i));
  const Tensor one = Identity(a), a2 = Matmul(a, a), a4 = Matmul(a2, a2), a6 = Matmul(a4, a2);
  const Tensor odd = Matmul(a, Matmul(a6, a6 * c[13] + a4 * c[11] + a2 * c[9]) + a6 * c[7] +
                                   a4 * c[5] + a2 * c[3] + one * c[1]);
  const Tensor even =
      Matmul(a6, a6 * c[12] + a4 * c[10] + a2 * c[8]) + a6 * c[6] + a4 * c[4] + a2 * c[2] + one;
  return Solve(even - odd, even + odd);
}

Tensor SkewExp(const Tensor& a) {
  constexpr double kNorm = 5.37;  // up to this norm the approximant is exact to rounding
  constexpr int kSquarings = 8;
  const Tensor norm = Amax(Sum(Abs(a.Detach()), {-1}, true), {-2}, true);
  const Tensor squarings = Maximum(Ceil(Log2(norm * (1 / kNorm))), 0);
  Tensor q = PadeExp(a * Exp2(-squarings));
  for (int i = 0; i < kSquarings; ++i) q = Where(squarings > i, Matmul(q, q), q);
  return q;
}

Tensor Reflections(const Tensor& x) {
  const int64_t k = x.size(-1);
  const Tensor v = Tril(x, -1) + Identity(x);
  const Tensor gram = Matmul(v, v, true, false);
  const Tensor inverse_t = gram * (1 - Identity(gram) * 0.5);  // its lower triangle is not read
  const Tensor top = Transposed(Narrow(v, -2, 0, k));
  const Tensor q = Identity(x) - Matmul(v, SolveTriangular(inverse_t, top, true));
  const Tensor diagonal = Diagonal(x.Detach(), 0, -2, -1);
  return q * Unsqueeze(Where(diagonal < 0, -1, OnesLike(diagonal)), -2);
}

// The Q of tall matrices' QR decompositions, with the signs for which R's diagonal is positive, so
// that orthogonal matrices stay unchanged.
Tensor MakeOrthogonal(const Tensor& a) {
  const auto [q, r] = Qr(a);
  const Tensor diagonal = Diagonal(r, 0, -2, -1);
  return q * Unsqueeze(Where(diagonal < 0, -1, OnesLike(diagonal)), -2);
}

bool IsOrthogonal(const Tensor& q) {
  const Tensor product = Matmul(q, q, true, false);
  const double eps = q.dtype() == DType::kF64 ? std::numeric_limits<double>::epsilon()
                                              : std::numeric_limits<float>::epsilon();
  const double most = Amax(Abs(product - Identity(product))).Item();
  return most <= 10 * static_cast<double>(q.size(-2)) * eps;
}

}  // namespace

Tensor Orthogonal::Forward(const Tensor& x, const State& state) const {
  const Tensor tall = Tall(x);
  const bool square = x.size(-2) == x.size(-1);
  OrthogonalMap by = map;
  if (by == OrthogonalMap::kByShape) {
    by = square ? OrthogonalMap::kMatrixExp : OrthogonalMap::kHouseholder;
  }
  Tensor q;
  if (by == OrthogonalMap::kHouseholder) {
    q = Reflections(tall);
  } else {
    const Tensor a = SkewOf(tall);
    q = by == OrthogonalMap::kCayley ? Cayley(a) : SkewExp(a);
    if (!square) q = Narrow(q, -1, 0, tall.size(-1));
  }
  q = Matmul(state.buffer(0), q);
  return IsWide(x) ? Transposed(q) : q;
}

Tensor Orthogonal::RightInverse(const Tensor& weight, const State& state) const {
  Tensor base = Tall(weight);
  const int64_t n = base.size(-2), k = base.size(-1);
  if (n != k) {  // further columns, any that are orthogonal to those
    const Tensor drawn = Randn(MatricesLike(base, n, n - k), base.dtype());
    base = Concat({base, drawn.To(base.device())}, -1);
  }
  if (n != k || !IsOrthogonal(base)) base = MakeOrthogonal(base);
  Assign(state.buffer(0), base);
  return ZerosLike(weight) - Identity(weight);
}

std::vector<NamedTensor> Orthogonal::Buffers(const Tensor& weight) const {
  if (weight.rank() < 2 || weight.num_elements() == 0) {
    RaiseStatus(InvalidArgument("the weight must be a matrix, or several, with elements, got ",
                                weight.spec().ToString()),
                kName);
  }
  const int64_t n = std::max(weight.size(-2), weight.size(-1));
  return {{"base", Zeros(MatricesLike(weight, n, n), weight.dtype(), weight.device())}};
}

}  // namespace firn::nn::parametrize

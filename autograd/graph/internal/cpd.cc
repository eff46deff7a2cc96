// The factor of one dimension is the least-squares solution for the two others as they are: with
// theirs multiplied column by column (Khatri-Rao), it is x, unfolded, times that product, times the
// pseudoinverse of a matrix of rank x rank, which their Gram matrices give.
#include "firn/autograd/graph/internal/cpd.h"

#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/linalg/pinv.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::inner::internal {
namespace {

Tensor Gram(const Tensor& factor) { return Matmul(Transpose(factor, 0, 1), factor); }

// [a, rank] and [b, rank] as [a * b, rank].
Tensor KhatriRao(const Tensor& a, const Tensor& b) {
  return Reshape(Mul(Unsqueeze(a, 1), Unsqueeze(b, 0)), {-1, a.size(1)});
}

Tensor Solved(const Tensor& unfolded, const Tensor& a, const Tensor& b) {
  return Matmul(Matmul(unfolded, KhatriRao(a, b)), Pinv(Mul(Gram(a), Gram(b))));
}

// Scales columns to norm 1. A column of zeros stays.
Tensor Normalized(const Tensor& factor) {
  const Tensor norms = Sqrt(Sum(Square(factor), {0}, /*keepdim=*/true));
  return Div(factor, Where(Eq(norms, 0), OnesLike(norms), norms));
}

}  // namespace

Cpd DecomposeThreeWays(const Tensor& x, int64_t rank, int64_t iterations, double tolerance,
                       uint64_t seed) {
  RandomGenerator generator(seed);
  Cpd cpd;
  for (int d = 0; d < 3; ++d) {
    cpd.factors[static_cast<size_t>(d)] =
        Randn({x.size(d), rank}, DType::kF64, {.generator = &generator});
  }
  auto& [a, b, c] = cpd.factors;
  const Tensor of_a = Reshape(x, {x.size(0), -1});
  const Tensor of_b = Reshape(Permute(x, {1, 0, 2}), {x.size(1), -1});
  const Tensor of_c = Reshape(Permute(x, {2, 0, 1}), {x.size(2), -1});
  const double norm = std::sqrt(Sum(Square(x)).Item<double>());
  cpd.error = 1;
  for (int64_t n = 0; n < iterations && norm > 0; ++n) {
    b = Normalized(Solved(of_b, a, c));
    c = Normalized(Solved(of_c, a, b));
    a = Solved(of_a, b, c);
    const Tensor left = Sub(of_a, Matmul(a, Transpose(KhatriRao(b, c), 0, 1)));
    const double error = std::sqrt(Sum(Square(left)).Item<double>()) / norm;
    const bool done = std::abs(cpd.error - error) < tolerance;
    cpd.error = error;
    if (done) break;
  }
  if (!(norm > 0)) {  // zeros, unlike what the fit began with
    a = ZerosLike(a);
    cpd.error = 0;
  }
  return cpd;
}

}  // namespace firn::inner::internal

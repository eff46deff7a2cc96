// kron: a product of x [a, 1, b, 1] and y [1, c, 1, d], seen as [a c, b d].
//
// cross: the elements that follow in the one times those before in the other, less the reverse.

#include "firn/tensor/ops/linear/products.h"

#include <algorithm>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/rearrange.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// x with `rank` dimensions, and a 1 behind or before each of them.
Tensor WithOnes(const Tensor& x, int rank, bool behind) {
  Dims d;
  for (int i = 0; i < rank; ++i) {
    const int from = i - (rank - x.rank());
    if (!behind) d.push_back(1);
    d.push_back(from < 0 ? 1 : x.size(from));
    if (behind) d.push_back(1);
  }
  return Reshape(x, d.span());
}

}  // namespace

Tensor Kron(const Tensor& x, const Tensor& y) {
  constexpr const char* kName = "kron";
  CheckDefined(x, kName);
  CheckDefined(y, kName, "y");
  const int rank = std::max(x.rank(), y.rank());
  if (2 * rank > kMaxRank) {
    RaiseStatus(InvalidArgument("x ", x.shape().ToString(), " and y ", y.shape().ToString(),
                                " may have at most ", kMaxRank / 2, " dimensions"),
                kName);
  }
  const Tensor product = Mul(WithOnes(x, rank, true), WithOnes(y, rank, false));
  Dims d;
  for (int i = 0; i < rank; ++i) d.push_back(product.size(2 * i) * product.size(2 * i + 1));
  return Reshape(product, d.span());
}

Tensor Cross(const Tensor& x, const Tensor& y, Integer dim) {
  constexpr const char* kName = "cross";
  CheckDefined(x, kName);
  CheckDefined(y, kName, "y");
  for (const Tensor& t : {x, y}) {
    const absl::StatusOr<int> at = NormalizeDim(dim, t.shape());
    if (x.rank() == y.rank() && x.rank() > 0 && at.ok() && t.size(*at) == 3) continue;
    RaiseStatus(InvalidArgument("x ", x.shape().ToString(), " and y ", y.shape().ToString(),
                                " must have as many dimensions, and size 3 in dim ", int64_t{dim}),
                kName);
  }
  const auto next = [&](const Tensor& t) { return Roll(t, -1, int64_t{dim}); };
  const auto last = [&](const Tensor& t) { return Roll(t, 1, int64_t{dim}); };
  return Sub(Mul(next(x), last(y)), Mul(last(x), next(y)));
}

}  // namespace firn

// tile: one dimension at a time, last first. [outer, n * inner] becomes [outer, r, n * inner] with
// stride 0 for r, and joining it again copies. Every repetition at least doubles the tensor, so the
// copies together move less than twice the result.

#include "tensor/ops/tile.h"

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/ops/expand.h"
#include "tensor/ops/reshape.h"

namespace firn {
namespace {

Tensor RepeatDim(const Tensor& x, int dim, int64_t repeats) {
  Dims joined = x.shape().dims();
  if (__builtin_mul_overflow(joined[dim], repeats, &joined[dim])) {
    RaiseStatus(InvalidArgument("repeating dim ", dim, " of x ", x.shape().ToString(), " ", repeats,
                                " times overflows"),
                "tile");
  }
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < x.rank(); ++d) (d < dim ? outer : inner) *= x.shape()[d];
  const Tensor apart = Reshape(x, {outer, 1, inner});
  return Reshape(Expand(apart, {outer, repeats, inner}), joined.span());
}

}  // namespace

Tensor Tile(const Tensor& x, const std::vector<int64_t>& repeats) {
  CheckDefined(x, "tile");
  for (int64_t r : repeats) {
    if (r < 0) RaiseStatus(InvalidArgument("a number of repeats is negative: ", r), "tile");
  }
  if (repeats.size() > static_cast<size_t>(kMaxRank)) {
    RaiseStatus(
        InvalidArgument(repeats.size(), " repeats; a tensor has at most ", kMaxRank, " dimensions"),
        "tile");
  }
  const int count = static_cast<int>(repeats.size());
  Tensor y = x;
  if (count > x.rank()) {
    Dims sizes(count - x.rank(), 1);
    for (int64_t n : x.shape()) sizes.push_back(n);
    y = Reshape(x, sizes.span());
  }
  for (int i = 1; i <= count; ++i) {
    const int64_t r = repeats[static_cast<size_t>(count - i)];
    if (r != 1) y = RepeatDim(y, y.rank() - i, r);
  }
  return y;
}

}  // namespace firn

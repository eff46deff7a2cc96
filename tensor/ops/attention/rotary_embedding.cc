// rotary_embedding: (a, b) becomes (a cos - b sin, b cos + a sin), with a and b views of x.

#include "firn/tensor/ops/attention/rotary_embedding.h"

#include <cmath>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/trigonometry.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

constexpr char kName[] = "rotary_embedding";

// The number of features that are rotated.
int64_t CheckedDims(const Tensor& x, const RotaryEmbeddingOptions& o) {
  CheckDefined(x, kName);
  if (x.rank() < 2 || !IsFloating(x.dtype())) {
    RaiseStatus(
        InvalidArgument("x must be floating with at least 2 dimensions, got ", x.spec().ToString()),
        kName);
  }
  const int64_t features = x.size(-1), dims = o.dims == 0 ? features : o.dims;
  if (dims < 0 || dims > features || dims % 2 != 0) {
    RaiseStatus(InvalidArgument("dims ", dims, " must be even and at most the ", features,
                                " features of x ", x.shape().ToString()),
                kName);
  }
  if (!(o.base > 0) || !std::isfinite(o.base)) {
    RaiseStatus(InvalidArgument("base ", o.base, " is not a positive number"), kName);
  }
  return dims;
}

// [..., length, dims / 2]
Tensor Angles(const Tensor& x, int64_t dims, const RotaryEmbeddingOptions& o) {
  const DType wide = ComputeDType(x.dtype());
  Tensor at = o.positions;
  if (!at.defined()) {
    at = Add(Arange(int64_t{0}, x.size(-2), int64_t{1}, {.device = x.device()}), o.offset);
  }
  const Tensor pair =
      Arange(0.0, static_cast<double>(dims / 2), 1.0, {.dtype = wide, .device = x.device()});
  const double step = dims == 0 ? 0 : -2 * std::log(o.base) / static_cast<double>(dims);
  return Mul(Unsqueeze(Cast(at, wide), -1), Exp(Mul(pair, step)));
}

}  // namespace

Tensor RotaryEmbedding(const Tensor& x, const RotaryEmbeddingOptions& o) {
  const int64_t dims = CheckedDims(x, o), half = dims / 2;
  const Tensor angles = Angles(x, dims, o), cos = Cos(angles), sin = Sin(angles);
  const Tensor turning = Cast(dims == x.size(-1) ? x : Slice(x, -1, 0, dims), cos.dtype());
  const Tensor a = o.interleaved ? Slice(turning, -1, 0, dims, 2) : Slice(turning, -1, 0, half);
  const Tensor b = o.interleaved ? Slice(turning, -1, 1, dims, 2) : Slice(turning, -1, half, dims);
  const Tensor first = Sub(Mul(a, cos), Mul(b, sin)), second = Add(Mul(b, cos), Mul(a, sin));
  if (first.shape() != a.shape()) {
    RaiseStatus(InvalidArgument("positions ", o.positions.shape().ToString(),
                                " do not broadcast to the rows of x ", x.shape().ToString()),
                kName);
  }
  Tensor turned;
  if (o.interleaved) {
    turned = Reshape(Stack({first, second}, -1), turning.shape());
  } else {
    turned = Concat({first, second}, -1);
  }
  const Tensor y = Cast(turned, x.dtype());
  if (dims == x.size(-1)) return y;
  return Concat({y, Slice(x, -1, dims, x.size(-1))}, -1);
}

}  // namespace firn

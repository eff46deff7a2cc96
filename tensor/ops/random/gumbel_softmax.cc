// gumbel_softmax: -log(-log u) of uniform u is a draw of the Gumbel distribution. u is kept from 0
// and below 1, where the draw would be infinite. Half types are computed in f32: u of their own
// would have few values near 1.

#include "firn/tensor/ops/random/gumbel_softmax.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/activation/straight_through.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/index/embedding.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/permute.h"

namespace firn {
namespace {

constexpr double kLeast = 0x1p-25;

// 1 at the largest element along `dim`, 0 elsewhere.
Tensor Hard(const Tensor& soft, int dim) {
  if (soft.size(dim) == 0) return soft;
  return Movedim(OneHot(Argmax(soft, dim), soft.size(dim), soft.dtype()), -1, dim);
}

}  // namespace

Tensor GumbelSoftmax(const Tensor& logits, const GumbelSoftmaxOptions& o) {
  constexpr const char* kName = "gumbel_softmax";
  CheckDefined(logits, kName, "logits");
  if (!IsFloating(logits.dtype()) || logits.rank() == 0) {
    RaiseStatus(InvalidArgument("logits must be floating and have dimensions, got ",
                                logits.spec().ToString()),
                kName);
  }
  const absl::StatusOr<int> dim = NormalizeDim(o.dim, logits.shape());
  RaiseIfError(dim.status(), kName);
  if (!(o.tau > 0)) RaiseStatus(InvalidArgument("tau must be above 0, got ", o.tau), kName);
  const DType wide = ComputeDType(logits.dtype());
  const RandomOptions options{.device = logits.device(), .generator = o.generator};
  const Tensor u = Rand(logits.shape(), kLeast, 1, wide, options);
  const Tensor noisy = Sub(Cast(logits, wide), Log(Neg(Log(u))));
  const Tensor soft = Cast(Softmax(Div(noisy, o.tau), *dim), logits.dtype());
  return o.hard ? StraightThrough(Hard(soft.Detach(), *dim), soft) : soft;
}

}  // namespace firn

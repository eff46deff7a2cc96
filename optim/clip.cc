// Clipping: gradients that nobody else holds are changed in place, all by one operation; the others
// are copied first. The norms of several ranks are joined in two steps: the largest norm, by which
// all are divided so that their powers stay in range, and the sum of these powers.

#include "firn/optim/clip.h"

#include <cmath>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/optim/own_gradients.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/optimizer/clip.h"
#include "firn/tensor/ops/optimizer/scale.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::optim {
namespace {

void CheckLimit(double limit, const char* name, const char* caller) {
  if (!(limit >= 0)) {
    RaiseStatus(InvalidArgument(name, " is ", limit, " (want a number that is not negative)"),
                caller);
  }
}

// The norm of all ranks' elements, f64, from the norm of this rank's own.
Tensor GlobalNorm(const Tensor& own, double p, const GlobalNumber& global) {
  const Tensor norm = Cast(own, DType::kF64), largest = global.largest(norm);
  // 0 / 0 and infinity / infinity are 1 here; a NaN stays one.
  const Tensor share = Where(Eq(norm, largest), OnesLike(norm), norm / largest);
  if (std::isinf(p)) {  // the maximum may have skipped a NaN
    const Tensor none = global.sum(ZerosLike(share) * share);
    return Where(Eq(none, none), largest, none);
  }
  return largest * Pow(global.sum(Pow(share, p)), 1 / p);
}

Tensor ClipGradNormOfRanks(const std::vector<Tensor>& grads, double max_norm, double p,
                           const GlobalNumber& global) {
  constexpr double kAny = std::numeric_limits<double>::max();
  const Tensor own = grads.empty() ? Zeros(Shape()) : firn::ClipGradNorm(grads, kAny, p);
  const Tensor norm = GlobalNorm(own, p, global);
  // The reciprocal of the factor, which is at most 1.
  if (!grads.empty()) inner::UnscaleGradients(grads, Maximum((norm + 1e-6) / max_norm, 1));
  return Cast(norm, own.dtype());
}

}  // namespace

Tensor ClipGradNorm(const std::vector<Tensor>& parameters, Real max_norm, Real p,
                    const GlobalNumber& global) {
  CheckLimit(max_norm, "max_norm", "clip_grad_norm");
  const NoGradScope no_grad;
  const std::vector<Tensor> grads = OwnGrads(parameters);
  if (global) return ClipGradNormOfRanks(grads, max_norm, p, global);
  return grads.empty() ? Zeros(Shape()) : firn::ClipGradNorm(grads, max_norm, p);
}

void ClipGradNormEach(const std::vector<Tensor>& parameters, Real max_norm, Real p) {
  CheckLimit(max_norm, "max_norm", "clip_grad_norm_each");
  const NoGradScope no_grad;
  for (const Tensor& grad : OwnGrads(parameters)) firn::ClipGradNorm({grad}, max_norm, p);
}

void ClipGradValue(const std::vector<Tensor>& parameters, Real limit) {
  CheckLimit(limit, "limit", "clip_grad_value");
  const NoGradScope no_grad;
  const std::vector<Tensor> grads = OwnGrads(parameters);
  if (!grads.empty()) firn::ClipGradValue(grads, limit);
}

}  // namespace firn::optim

// Clipping: gradients that nobody else sees are changed in place, all by one operation; the others
// are copied first.

#include "firn/optim/clip.h"

#include "firn/device/status_macros.h"
#include "firn/optim/own_gradients.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/optimizer/clip.h"

namespace firn::optim {
namespace {

void CheckLimit(double limit, const char* name, const char* caller) {
  if (!(limit >= 0)) {
    RaiseStatus(InvalidArgument(name, " is ", limit, " (want a number that is not negative)"),
                caller);
  }
}

}  // namespace

Tensor ClipGradNorm(const std::vector<Tensor>& parameters, Real max_norm, Real p) {
  CheckLimit(max_norm, "max_norm", "clip_grad_norm");
  const NoGradScope no_grad;
  const std::vector<Tensor> grads = OwnGrads(parameters);
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

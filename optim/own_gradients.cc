// A tensor of a gradient that the parameter alone holds may be written; the tape hands one tensor
// to two parameters where their gradients are equal.
#include "firn/optim/own_gradients.h"

#include <set>

#include "firn/device/inner.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/storage.h"

namespace firn::optim {
namespace {

// The gradient of a parameter, ready to be written: its own, contiguous and without history.
Tensor OwnGrad(Tensor& parameter) {
  const Tensor& grad = parameter.grad();
  const bool own = grad.impl()->use_count() == 1 && grad.impl()->storage->use_count() == 1 &&
                   grad.is_contiguous() && !grad.requires_grad();
  if (!own) {
    const Tensor detached = grad.Detach();
    parameter.SetGrad(detached.is_contiguous() ? Clone(detached) : Contiguous(detached));
  }
  return parameter.grad();
}

}  // namespace

std::vector<Tensor> OwnGrads(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> grads;
  std::set<const TensorImpl*> seen;
  for (Tensor p : parameters) {
    if (p.defined() && p.grad().defined() && seen.insert(p.impl()).second) {
      grads.push_back(OwnGrad(p));
    }
  }
  return grads;
}

}  // namespace firn::optim

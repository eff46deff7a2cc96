// Muon, written with operations, since products of matrices take most of its time.

#include "firn/optim/muon.h"

#include <algorithm>
#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/optim/registry.h"
#include "firn/optim/unless.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/optimizer_rule.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/reduce/norm.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::optim {
namespace {

// Nearly U V^T, where u = U S V^T: the iteration draws singular values to about 1.
Tensor Orthogonal(const MuonOptions& o, const Tensor& u) {
  Tensor x = Div(u, Clamp(Norm(u), o.eps));
  const bool tall = x.shape()[0] > x.shape()[1];
  for (int64_t i = 0; i < o.ns_steps; ++i) {
    // The smaller of the two products of x with itself.
    const Tensor gram = Matmul(x, x, tall, !tall);
    const Tensor factor = Add(Mul(gram, o.ns_b), Matmul(gram, gram), o.ns_c);
    x = Add(Mul(x, o.ns_a), tall ? Matmul(x, factor) : Matmul(factor, x));
  }
  return x;
}

double ScaleOf(MuonScale scale, const Shape& shape) {
  const double rows = static_cast<double>(shape[0]), columns = static_cast<double>(shape[1]);
  switch (scale) {
    case MuonScale::kOriginal:
      return std::sqrt(std::max(1.0, rows / columns));
    case MuonScale::kMatchRmsAdamW:
      return 0.2 * std::sqrt(std::max(rows, columns));
    case MuonScale::kSpectralUnclamped:
      return std::sqrt(rows / columns);
  }
  return 1;
}

}  // namespace

void Muon::Check(const MuonOptions& o) const {
  RaiseIfError(NotNegative({{"lr", o.lr},
                            {"weight_decay", o.weight_decay},
                            {"momentum", o.momentum},
                            {"eps", o.eps},
                            {"ns_steps", static_cast<double>(o.ns_steps)}}),
               name());
  if (o.ns_steps >= 100 || WordFor(o.scale) == nullptr) {
    RaiseStatus(InvalidArgument("ns_steps ", o.ns_steps, " must be below 100, scale ",
                                static_cast<int>(o.scale), " stand for ",
                                WordList(kWordsOf<MuonScale>).Text()),
                name());
  }
}

void Muon::CheckParameter(const std::string& parameter, const Shape& shape) const {
  if (shape.rank() == 2 && shape.num_elements() > 0) return;
  RaiseStatus(InvalidArgument("parameter ", parameter, " is ", shape.ToString(),
                              "; only matrices can be moved"),
              name());
}

void Muon::Update(size_t group, const Tensor& lr, const Tensor& skip,
                  absl::Span<Slot* const> slots) {
  const MuonOptions& o = options(group);
  for (Slot* slot : slots) {
    const Tensor &x = slot->param, &buffer = slot->state[0];
    const Tensor grad = Cast(x.grad(), buffer.dtype()), rate = Cast(lr, buffer.dtype());
    const Tensor v = Lerp(buffer, grad, 1 - o.momentum);
    const Tensor step = Orthogonal(o, o.nesterov ? Lerp(grad, v, o.momentum) : v);
    const Tensor kept = Sub(Cast(x, buffer.dtype()), Mul(Mul(x, rate), o.weight_decay));
    AssignUnless(skip, x, Sub(kept, Mul(step, rate), ScaleOf(o.scale, x.shape())));
    AssignUnless(skip, buffer, v);
    CountUnless(skip, slot->step);
  }
}

FIRN_REGISTER_OPTIMIZER(muon, Muon);

}  // namespace firn::optim

// poisson_nll_loss, gaussian_nll_loss: negative log likelihoods of numbers, made of operations.

#include "firn/tensor/ops/loss/likelihood.h"

#include <cmath>
#include <numbers>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/straight_through.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// t log t - t + log(2 pi t) / 2 where t > 1, else 0. Where the term is not wanted, t is replaced by
// 1, so that no gradient comes from NaN.
Tensor LogFactorial(const Tensor& target) {
  const Tensor counts = Gt(target, 1), t = Where(counts, target, 1.0);
  const Tensor log = Log(t);
  const Tensor stirling = Add(Sub(Mul(Add(t, 0.5), log), t), std::log(2 * std::numbers::pi) / 2);
  return Where(counts, stirling, 0.0);
}

// The variance with the shape to which it is broadcast.
Tensor VarianceLike(const Tensor& mean, const Tensor& var) {
  const Shape &want = mean.shape(), &got = var.shape();
  if (got == want) return var;
  Dims head;
  for (int i = 0; i + 1 < want.rank(); ++i) head.push_back(want[i]);
  if (want.rank() > 0 && got == Shape::Trusted(head)) return Unsqueeze(var, -1);
  head.push_back(1);
  if (want.rank() > 0 && got == Shape::Trusted(head)) return var;
  RaiseStatus(InvalidArgument("var ", got.ToString(), " must be like mean ", want.ToString(),
                              ", or have 1 or nothing in place of its last dimension"),
              "gaussian_nll_loss");
}

// Half types compute in f32: f16 holds neither eps nor the square of 300.
Tensor Wide(const Tensor& x) { return Cast(x, ComputeDType(x.dtype())); }

}  // namespace

Tensor PoissonNllLoss(const Tensor& x, const Tensor& target, const PoissonNllLossOptions& o) {
  CheckAlike({{"x", x}, {"target", target}}, "poisson_nll_loss");
  const Tensor rate = Wide(x), count = Wide(target);
  Tensor losses =
      o.log_input ? Sub(Exp(rate), Mul(count, rate)) : Sub(rate, Mul(count, Log(Add(rate, o.eps))));
  if (o.full) losses = Add(losses, LogFactorial(count));
  return Cast(ReduceLoss(losses, {}, o.reduction, "poisson_nll_loss"), x.dtype());
}

void GaussianNllLossOptions::Check(const char* where) const {
  if (!(eps > 0)) RaiseStatus(InvalidArgument("eps must be above 0, got ", eps), where);
  CheckLossReduction(reduction, where);
}

Tensor GaussianNllLoss(const Tensor& mean, const Tensor& target, const Tensor& var,
                       const GaussianNllLossOptions& o) {
  constexpr const char* kName = "gaussian_nll_loss";
  CheckAlike({{"mean", mean}, {"target", target}}, kName);
  CheckOneFloat({{"mean", mean}, {"var", var}}, kName);
  o.Check(kName);
  const Tensor given = Wide(VarianceLike(mean, var));
  const Tensor v = StraightThrough(Clamp(given, o.eps), given);
  // Not the square over the variance: it may be infinite where this is not.
  const Tensor error = Sub(Wide(mean), Wide(target));
  Tensor losses = Mul(Add(Log(v), Mul(Div(error, v), error)), 0.5);
  if (o.full) losses = Add(losses, std::log(2 * std::numbers::pi) / 2);
  return Cast(ReduceLoss(losses, {}, o.reduction, kName), mean.dtype());
}

}  // namespace firn

// isclose: made of operations. A difference of infinities is infinite or NaN and never close; a
// comparison finds equal ones.

#include "firn/tensor/ops/compare/close.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/reduce/truth.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

void CheckTolerance(double tolerance, const char* name) {
  if (tolerance >= 0) return;
  RaiseStatus(InvalidArgument(name, " must be at least 0, got ", tolerance), "isclose");
}

}  // namespace

Tensor Isclose(const Tensor& x, const Tensor& y, const IscloseOptions& o) {
  CheckTolerance(o.rtol, "rtol");
  CheckTolerance(o.atol, "atol");
  const Promoted p = PromoteCompared(x, y, "isclose");
  Tensor close = Eq(p.x(), p.y());
  if (o.equal_nan) close = LogicalOr(close, LogicalAnd(Isnan(p.x()), Isnan(p.y())));
  if (o.rtol == 0 && o.atol == 0) return close;
  const DType common = p.x().dtype();
  const DType wide = IsFloating(common) ? ComputeDType(common) : DType::kF64;
  const Tensor a = AsDType(p.x(), wide), b = AsDType(p.y(), wide);
  const Tensor apart = Abs(Sub(a, b));
  const Tensor near = Le(apart, Add(Abs(Mul(b, o.rtol)), o.atol));
  return LogicalOr(close, LogicalAnd(Isfinite(apart), near));
}

bool Allclose(const Tensor& x, const Tensor& y, const IscloseOptions& options) {
  return All(Isclose(x, y, options)).Item<bool>();
}

}  // namespace firn

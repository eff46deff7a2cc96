// Composites. Operations and not the host decide which weights count, so that frozen steps decide
// it anew each time.

#include "firn/tensor/ops/quantize/prune.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/straight_through.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/quantize/levels.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/scan/sort.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

void CheckFloating(const Tensor& x, const char* op, const char* name) {
  CheckDefined(x, op, name);
  if (!IsFloating(x.dtype())) {
    RaiseStatus(InvalidArgument(name, " must be f32, f64, f16 or bf16, got ", x.spec().ToString()),
                op);
  }
}

// The largest half of the free elements.
Tensor LargestFree(const Tensor& w, const Tensor& fixed) {
  const Tensor sizes = Flatten(Where(fixed, -1.0, Abs(w)));
  const Tensor order = Argsort(sizes, 0, {.descending = true, .stable = true});
  const Tensor rank = Argsort(order, 0);
  const Tensor free = Sum(Cast(LogicalNot(fixed), DType::kI64));
  return Reshape(Lt(Add(Mul(rank, 2), 1), free), w.shape());
}

// The elements that are fixed from this step on.
Tensor FixedNow(const Tensor& w, const Tensor& fixed, const Tensor& step, const InqOptions& o) {
  const Tensor at = Reshape(step, {});
  Tensor last, listed;  // each step a constant of its operation: a graph holds no list of them
  for (const int64_t iteration : o.iterations) {
    last = Eq(at, iteration);
    listed = listed.defined() ? LogicalOr(listed, last) : last;
  }
  const Tensor chosen =
      o.selection == InqSelection::kLargestAbs
          ? LargestFree(w, fixed)
          : Lt(Rand(w.shape(), 0, 1, DType::kF32, {.device = w.device(), .generator = o.generator}),
               0.5);
  return LogicalOr(LogicalOr(fixed, last), LogicalAnd(listed, chosen));
}

// w as powers of two and zeros.
Tensor Powers(const Tensor& w, int64_t num_bits) {
  const Tensor size = Abs(w), top = PowerOfTwo(Amax(size));
  const Tensor least = Mul(top, std::ldexp(1.0, 1 - (1 << (num_bits - 2))));
  const Tensor power = Clamp(PowerOfTwo(size), least, top);
  return Where(Lt(size, Mul(least, 0.5)), 0.0, Mul(power, Sign(w)));
}

void CheckInq(const Tensor& w, const Tensor& fixed, const Tensor& step, const InqOptions& o) {
  constexpr char kName[] = "inq_quantize";
  CheckFloating(w, kName, "w");
  CheckDefined(fixed, kName, "fixed");
  CheckDefined(step, kName, "step");
  if (fixed.dtype() != DType::kBool || fixed.shape() != w.shape()) {
    RaiseStatus(InvalidArgument("fixed must be bool of the shape of w ", w.spec().ToString(),
                                ", got ", fixed.spec().ToString()),
                kName);
  }
  if (step.dtype() != DType::kI64 || step.num_elements() != 1) {
    RaiseStatus(InvalidArgument("step must be one i64, got ", step.spec().ToString()), kName);
  }
  if (o.num_bits < 2 || o.num_bits > 8) {
    RaiseStatus(InvalidArgument("num_bits must be between 2 and 8, got ", o.num_bits), kName);
  }
  const auto& at = o.iterations;
  if (std::adjacent_find(at.begin(), at.end(), std::greater_equal<>()) != at.end()) {
    RaiseStatus(InvalidArgument("iterations must ascend"), kName);
  }
}

}  // namespace

Tensor MagnitudePrune(const Tensor& x, Real rate) {
  CheckFloating(x, "magnitude_prune", "x");
  if (!(rate >= 0 && rate <= 1)) {
    RaiseStatus(InvalidArgument("rate must lie in [0, 1], got ", static_cast<double>(rate)),
                "magnitude_prune");
  }
  if (rate == 1.0) return StraightThrough(ZerosLike(x), x);
  const int64_t n = x.num_elements();
  if (n == 0) return Mul(x, 1);
  const auto rank = static_cast<int64_t>(static_cast<double>(n - 1) * rate);
  const Tensor held = x.Detach(), sizes = Abs(held);
  const Tensor kept = Topk(Flatten(sizes), n - rank, 0, {.sorted = true}).values;
  const Tensor least = Select(kept, 0, n - rank - 1);
  return StraightThrough(Where(Lt(sizes, least), 0.0, held), x);
}

Tensor InqQuantize(const Tensor& w, const Tensor& fixed, const Tensor& step, const InqOptions& o) {
  CheckInq(w, fixed, step, o);
  if (w.num_elements() == 0) return Mul(w, 1);
  Tensor values, where = fixed;
  {
    const NoGradScope no_grad;
    const Tensor wide = Cast(w, ComputeDType(w.dtype()));
    if (o.training) {
      if (!o.iterations.empty()) where = FixedNow(wide, fixed, step, o);
      Assign(fixed, where);
      Assign(step, Add(step, 1));
    }
    values = Cast(Powers(wide, o.num_bits), w.dtype());
    where = fixed.Clone();  // the recorded operations keep a copy
  }
  return Where(where, values, w);
}

}  // namespace firn

// mul_ratio: with t the sum of u x / z over all x that share a ratio, the gradients are u y / z for
// x, t for y and -t y / z for z: all of them are ratios again. Where several x share a ratio,
// ratios are computed first, and x is multiplied by them if all are in range, which holds in nearly
// all calls.

#include "firn/tensor/ops/elementwise/ratio.h"

#include <limits>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/infer.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/arithmetic_fn.h"
#include "firn/tensor/ops/elementwise/ratio_fn.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn {
namespace {

// Whether ratios are computed before the rest: y and z are of one shape and x is larger. Half types
// are computed in f32 and need all to stay there.
bool TakesRatiosFirst(const TensorSpec& x, const TensorSpec& y, const TensorSpec& z) {
  return ComputeDType(x.dtype) == x.dtype && y.shape == z.shape &&
         x.num_elements() > y.num_elements();
}

size_t Workspace(const KernelQuery& q) {
  if (!TakesRatiosFirst(q.in(0), q.in(1), q.in(2))) return 0;
  return static_cast<size_t>(q.in(1).num_elements() * SizeOf(q.in(1).dtype));
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& y = k.in_spec(1);
  if (!TakesRatiosFirst(k.in_spec(0), y, k.in_spec(2))) return cpu::RunFloat<MulRatioFn, 3>(k);
  const TensorSpec spec = TensorSpec::Contiguous(y.dtype, y.shape, y.device);
  const Operand ratios = {k.workspace(), &spec};
  KernelContext divide(k.operands_in().subspan(1), {&ratios, 1}, {}, nullptr);
  FIRN_RETURN_IF_ERROR((cpu::RunFloat<NearRatioFn, 2>(divide)));
  const Operand factors[] = {k.operands_in()[0], ratios};
  KernelContext multiply(factors, k.operands_out(), {}, nullptr);
  const bool far = VisitFloat(y.dtype, [&]<class T>(TypeTag<T>) {
    return cpu::AnyElement<T>(multiply, 1, [](auto v) { return v != v; });
  });
  return far ? cpu::RunFloat<MulRatioFn, 3>(k) : cpu::RunFloat<MulFn, 2>(multiply);
}

void Grad(GradContext& g) {
  const Tensor &u = g.grad_output(), &x = g.input(0), &y = g.input(1), &z = g.input(2);
  if (g.needs(0)) g.set_grad_input(0, MulRatio(u, y, z));
  if (!g.needs(1) && !g.needs(2)) return;
  const absl::StatusOr<Shape> shared = BroadcastShapes(y.shape(), z.shape());
  const Tensor t = SumTo(Mul(u, MulRatio(x, OnesLike(z), z)), *shared);
  if (g.needs(1)) g.set_grad_input(1, t);
  if (g.needs(2)) g.set_grad_input(2, Neg(MulRatio(t, y, z)));
}

FIRN_REGISTER_OP(mul_ratio) {
  return {
      .doc = "x times y / z, broadcast; 0 where z is 0.",
      .inputs = {{.name = "x", .dtypes = kFloating},
                 {.name = "y", .same_dtype_as = "x"},
                 {.name = "z", .same_dtype_as = "x"}},
      .outputs = {{.name = "w"}},
      .infer = InferBroadcast,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2)},
      .may_reuse = {{0, 0}},
      .kernels =
          {{.name = "loop", .workspace = Workspace, .run = Run, .takes = Takes::kElementwise}},
      .elementwise = cpu::ElementwiseOf<MulRatioFn>(),
  };
}

}  // namespace

Tensor inner::MulRatio(const Tensor& x, const Tensor& y, const Tensor& z) {
  return Apply1(TheOp<"mul_ratio">(), {x, y, z});
}

}  // namespace firn

#ifndef FIRN_TENSOR_KERNELS_CPU_OP_GRAD_H_
#define FIRN_TENSOR_KERNELS_CPU_OP_GRAD_H_

// Gradient rules of elementwise operations, made from functions of tensors, with the values that
// they read.

#include <type_traits>
#include <vector>

#include "firn/tensor/apply.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/full_attrs.h"
#include "firn/tensor/promotion.h"

namespace firn::cpu {

// A gradient rule and the values that it reads. If it reads only the operation's single input, or
// only its result, then
//   Tensor Grad(const Tensor& dy, const Tensor& x) { ... }     cpu::FromInput<Grad>()
//   Tensor Grad(const Tensor& dy, const Tensor& y) { ... }     cpu::FromOutput<Grad>()
// makes a rule whose function gives dx; a function with options takes them as a third argument.
struct OpGrad {
  GradFn rule = nullptr;
  std::vector<Saved> saves = {};
};

// The operation `kName` as such a function, with options A or none:
//   cpu::FromInput<cpu::GradBy<"foo_grad", FooAttrs>>()
template <OpName kName, class... A>
Tensor GradBy(const Tensor& dy, const Tensor& saved, const A&... attrs) {
  return Apply1(TheOp<kName>(), {dy, saved}, attrs...);
}

namespace internal {

inline Tensor CallGrad(Tensor (*f)(const Tensor&, const Tensor&), GradContext& g,
                       const Tensor& saved) {
  return f(g.grad_output(), saved);
}
template <class A>
Tensor CallGrad(Tensor (*f)(const Tensor&, const Tensor&, const A&), GradContext& g,
                const Tensor& saved) {
  return f(g.grad_output(), saved, g.attrs<A>());
}

inline Tensor CallCurve(Tensor (*f)(const Tensor&), GradContext&, const Tensor& v) { return f(v); }
template <class A>
Tensor CallCurve(Tensor (*f)(const Tensor&, const A&), GradContext& g, const Tensor& v) {
  return f(v, g.attrs<A>());
}

// Kernels see no functions of operations, which stand above them.
inline Tensor Product(const Tensor& x, const Tensor& y) {
  return ApplyPromoted(TheOp<"mul">(), x, y);
}
inline Tensor NoneOf(const Tensor& x) {
  const Device device = x.device();
  return Apply1(TheOp<"full">(), {},
                FullAttrs{x.shape().dims(), 0, x.dtype(), device.type, device.index});
}

}  // namespace internal

template <auto kGrad>
OpGrad FromInput() {
  return {[](GradContext& g) { g.set_grad_input(0, internal::CallGrad(kGrad, g, g.input(0))); },
          {Saved::Input(0)}};
}
template <auto kGrad>
OpGrad FromOutput() {
  return {[](GradContext& g) { g.set_grad_input(0, internal::CallGrad(kGrad, g, g.output(0))); },
          {Saved::Output(0)}};
}

// The gradient of a gradient dx = f(dy, v), which is linear in dy: with respect to dy it is f
// again, with respect to v it is dy times a curvature,
//   Tensor Curve(const Tensor& v) { ... }     cpu::OfGradient<FooGrad, Curve>()
// Curve may take options too. Without one the curvature is 0: the activation is piecewise linear.
// Half types are computed in f32, because they lack the digits that a curvature needs.
template <auto kGrad, auto kCurve = nullptr>
OpGrad OfGradient() {
  constexpr bool kStraight = std::is_null_pointer_v<decltype(kCurve)>;
  const GradFn rule = [](GradContext& g) {
    if (g.needs(0)) g.set_grad_input(0, internal::CallGrad(kGrad, g, g.input(1)));
    if (!g.needs(1)) return;
    if constexpr (kStraight) {
      g.set_grad_input(1, internal::NoneOf(g.grad_output()));
    } else {
      const DType dtype = g.input(1).dtype(), wide = ComputeDType(dtype);
      const Tensor curve = internal::CallCurve(kCurve, g, AsDType(g.input(1), wide));
      const Tensor flow =
          internal::Product(AsDType(g.grad_output(), wide), AsDType(g.input(0), wide));
      g.set_grad_input(1, AsDType(internal::Product(flow, curve), dtype));
    }
  };
  return kStraight ? OpGrad{rule, {Saved::Input(1)}}
                   : OpGrad{rule, {Saved::Input(0), Saved::Input(1)}};
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_OP_GRAD_H_

#ifndef FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_OPS_H_
#define FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_OPS_H_

// Declarations of the operations that are nothing but a scalar functor (see elementwise.h) applied
// to every element. A page gives what differs - name, documentation, gradient - and gets the rest:
//
//   Tensor GradExp(const Tensor& dy, const Tensor& y) { return Mul(dy, y); }
//   FIRN_REGISTER_OP(exp) {
//     return cpu::FloatOp<ExpFn>("e to the power x.", cpu::FromOutput<GradExp>());
//   }

#include <initializer_list>
#include <new>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "firn/tensor/kernels/cpu/elementwise.h"
#include "firn/tensor/kernels/cpu/op_grad.h"
#include "firn/tensor/op.h"
#include "firn/tensor/promotion.h"

namespace firn::cpu {

using SavedList = std::initializer_list<Saved>;

// An error where the divisor, input 1, is of integers and has a 0, since the division would end the
// process.
absl::Status CheckDivisor(const KernelContext& k);

// OpDef::elementwise for an operation with the functor F.
template <class F>
Elementwise ElementwiseOf(Elementwise::Kind kind = Elementwise::Kind::kComputed) {
  static_assert(std::is_trivially_copyable_v<F> && alignof(F) <= 16, "its bytes are passed on");
  Elementwise e = {.kind = kind, .functor = &typeid(F)};
  if constexpr (!std::is_empty_v<F> || !std::is_default_constructible_v<F>) {
    e.bytes = sizeof(F);
    e.make = [](const KernelContext& call, void* to) { new (to) F(MakeFunctor<F>(call)); };
  }
  return e;
}

namespace internal {

template <class F>
const AttrsType* FunctorAttrs() {
  if constexpr (requires { typename F::Attrs; }) {
    return AttrsOf<typename F::Attrs>();
  } else {
    return nullptr;
  }
}

using RunFn = absl::Status (*)(KernelContext&);
OpDef UnaryOp(std::string_view doc, DTypeSet dtypes, const AttrsType* attrs, GradFn grad,
              SavedList saves, RunFn run, Elementwise elementwise);
OpDef BinaryOp(std::string_view doc, DTypeSet dtypes, const AttrsType* attrs, GradFn grad,
               SavedList saves, RunFn run, Elementwise elementwise);
OpDef GradOp(std::string_view doc, std::string_view saved, const AttrsType* attrs, GradFn grad,
             SavedList saves, RunFn run, Elementwise elementwise);
// A unary or binary operation with bool results, no gradient.
OpDef Predicate(OpDef op);

}  // namespace internal

// y = F(x) for floating x; on the CPU it uses OnCpu, which may have Vectors.
template <class F, class OnCpu = F>
OpDef FloatOp(std::string_view doc, GradFn grad, SavedList saves = {}) {
  return internal::UnaryOp(doc, kFloating, internal::FunctorAttrs<F>(), grad, saves,
                           RunFloat<OnCpu>, ElementwiseOf<F>());
}

template <class F, class OnCpu = F>
OpDef FloatOp(std::string_view doc, OpGrad grad) {
  OpDef op = FloatOp<F, OnCpu>(doc, grad.rule);
  op.saves = std::move(grad.saves);
  return op;
}

// y = F(x) for floating and integer x.
template <class F>
OpDef NumericOp(std::string_view doc, GradFn grad, SavedList saves = {}) {
  return internal::UnaryOp(doc, kNumeric, internal::FunctorAttrs<F>(), grad, saves, RunNumeric<F>,
                           ElementwiseOf<F>());
}
template <class F>
OpDef NumericOp(std::string_view doc, OpGrad grad) {
  OpDef op = NumericOp<F>(doc, grad.rule);
  op.saves = std::move(grad.saves);
  return op;
}

// z = F(x, y), broadcast, for floating x and y of one dtype.
template <class F>
OpDef BinaryFloatOp(std::string_view doc, GradFn grad, SavedList saves = {}) {
  return internal::BinaryOp(doc, kFloating, internal::FunctorAttrs<F>(), grad, saves,
                            RunFloat<F, 2>, ElementwiseOf<F>());
}

// Like BinaryFloatOp, also for integers.
template <class F>
OpDef BinaryNumericOp(std::string_view doc, GradFn grad, SavedList saves = {}) {
  return internal::BinaryOp(doc, kNumeric, internal::FunctorAttrs<F>(), grad, saves,
                            RunNumeric<F, 2>, ElementwiseOf<F>());
}

// Like BinaryFloatOp, also for integers and bool.
template <class F>
OpDef BinaryAnyOp(std::string_view doc, GradFn grad, SavedList saves = {}) {
  return internal::BinaryOp(doc, kAnyDType, internal::FunctorAttrs<F>(), grad, saves, RunAny<F, 2>,
                            ElementwiseOf<F>());
}

// For integers and bool (bits), and for integers. Not differentiable.
template <class F>
OpDef BitOp(std::string_view doc) {
  return internal::UnaryOp(doc, kIntegral | kBoolean, nullptr, nullptr, {}, RunIntegerOrBool<F>,
                           ElementwiseOf<F>());
}
template <class F>
OpDef BinaryBitOp(std::string_view doc) {
  return internal::BinaryOp(doc, kIntegral | kBoolean, nullptr, nullptr, {}, RunIntegerOrBool<F, 2>,
                            ElementwiseOf<F>());
}
template <class F>
OpDef BinaryIntegerOp(std::string_view doc) {
  return internal::BinaryOp(doc, kIntegral, nullptr, nullptr, {}, RunInteger<F, 2>,
                            ElementwiseOf<F>());
}

// dx = F(dy, v): the gradient of an activation, from the value `saved` that it kept.
template <class F, class OnCpu = F>
OpDef GradOp(std::string_view doc, std::string_view saved, GradFn grad, SavedList saves) {
  return internal::GradOp(doc, saved, internal::FunctorAttrs<F>(), grad, saves, RunFloat<OnCpu, 2>,
                          ElementwiseOf<F>());
}

template <class F, class OnCpu = F>
OpDef GradOp(std::string_view doc, std::string_view saved, OpGrad grad) {
  OpDef op = GradOp<F, OnCpu>(doc, saved, grad.rule, {});
  op.saves = std::move(grad.saves);
  return op;
}

// A bool for every element, from x (and y, broadcast) of any dtype. Not differentiable.
template <class F>
OpDef UnaryPredicateOp(std::string_view doc) {
  return internal::Predicate(internal::UnaryOp(doc, kAnyDType, internal::FunctorAttrs<F>(), nullptr,
                                               {}, RunPredicate<F>, ElementwiseOf<F>()));
}
template <class F>
OpDef BinaryPredicateOp(std::string_view doc) {
  return internal::Predicate(internal::BinaryOp(doc, kAnyDType, nullptr, nullptr, {},
                                                RunPredicate<F, 2>, ElementwiseOf<F>()));
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_OPS_H_

#ifndef FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_OPS_H_
#define FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_OPS_H_

// Declarations of the operations that are nothing but a scalar functor (see elementwise.h) applied
// to every element. A stem says what is its own - name, documentation, gradient - and gets the
// rest:
//
//   FIRN_REGISTER_OP(exp) {
//     return cpu::FloatOp<ExpFn>("exp", "e to the power x.", Grad, {Saved::Output(0)});
//   }

#include <initializer_list>
#include <string_view>

#include "tensor/elementwise.h"
#include "tensor/kernels/cpu/elementwise.h"
#include "tensor/op.h"

namespace firn::cpu {

using SavedList = std::initializer_list<Saved>;

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
OpDef UnaryOp(std::string_view name, std::string_view doc, DTypeSet dtypes, const AttrsType* attrs,
              GradFn grad, SavedList saves, RunFn run);
OpDef BinaryOp(std::string_view name, std::string_view doc, DTypeSet dtypes, const AttrsType* attrs,
               GradFn grad, SavedList saves, RunFn run);
OpDef GradOp(std::string_view name, std::string_view doc, std::string_view saved,
             const AttrsType* attrs, GradFn grad, SavedList saves, RunFn run);
// Of a unary or binary operation: bool results, no gradient.
OpDef Predicate(OpDef op);

}  // namespace internal

// y = F(x) for floating x.
template <class F>
OpDef FloatOp(std::string_view name, std::string_view doc, GradFn grad, SavedList saves = {}) {
  return internal::UnaryOp(name, doc, kFloating, internal::FunctorAttrs<F>(), grad, saves,
                           RunUnaryFloat<F>);
}

// y = F(x) for floating and integer x.
template <class F>
OpDef NumericOp(std::string_view name, std::string_view doc, GradFn grad, SavedList saves = {}) {
  return internal::UnaryOp(name, doc, kNumeric, internal::FunctorAttrs<F>(), grad, saves,
                           RunUnaryNumeric<F>);
}

// z = F(x, y), broadcast, for floating x and y of one dtype.
template <class F>
OpDef BinaryFloatOp(std::string_view name, std::string_view doc, GradFn grad,
                    SavedList saves = {}) {
  return internal::BinaryOp(name, doc, kFloating, internal::FunctorAttrs<F>(), grad, saves,
                            RunBinaryFloat<F>);
}

// As BinaryFloatOp, also for integers.
template <class F>
OpDef BinaryNumericOp(std::string_view name, std::string_view doc, GradFn grad,
                      SavedList saves = {}) {
  return internal::BinaryOp(name, doc, kNumeric, internal::FunctorAttrs<F>(), grad, saves,
                            RunBinaryNumeric<F>);
}

// As BinaryFloatOp, also for integers and bool.
template <class F>
OpDef BinaryAnyOp(std::string_view name, std::string_view doc, GradFn grad, SavedList saves = {}) {
  return internal::BinaryOp(name, doc, kAnyDType, internal::FunctorAttrs<F>(), grad, saves,
                            RunBinaryAny<F>);
}

// dx = F(dy, v): the gradient of an activation, from the value `saved` that it kept.
template <class F>
OpDef GradOp(std::string_view name, std::string_view doc, std::string_view saved, GradFn grad,
             SavedList saves) {
  return internal::GradOp(name, doc, saved, internal::FunctorAttrs<F>(), grad, saves,
                          RunBinaryFloat<F>);
}

// A bool for every element, from x (and y, broadcast) of any dtype. Not differentiable.
template <class F>
OpDef UnaryPredicateOp(std::string_view name, std::string_view doc) {
  return internal::Predicate(
      internal::UnaryOp(name, doc, kAnyDType, nullptr, nullptr, {}, RunUnaryPredicate<F>));
}
template <class F>
OpDef BinaryPredicateOp(std::string_view name, std::string_view doc) {
  return internal::Predicate(
      internal::BinaryOp(name, doc, kAnyDType, nullptr, nullptr, {}, RunBinaryPredicate<F>));
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_OPS_H_

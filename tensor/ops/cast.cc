// cast: conversion between element types, total on all values (see kernels/cpu/convert.h).

#include "tensor/ops/cast.h"

#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/convert.h"
#include "tensor/kernels/cpu/elementwise.h"
#include "tensor/op.h"

namespace firn {
namespace {

template <class To>
struct ConvertFn {
  template <class From>
  auto operator()(From v) const {
    if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
      return static_cast<float>(v);
    } else {
      return cpu::ConvertTo<To>(v);
    }
  }
};

absl::Status Infer(InferContext& c) {
  c.set_out(0, c.attrs<CastAttrs>().dtype, c.shape(0));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  VisitDType(k.in_spec(0).dtype, [&]<class From>(TypeTag<From>) {
    VisitDType(k.out_spec().dtype,
               [&]<class To>(TypeTag<To>) { cpu::ElementwiseLoop<To, From>(k, ConvertFn<To>()); });
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) { g.set_grad_input(0, Cast(g.grad_output(), g.input_spec(0).dtype)); }

FIRN_REGISTER_OP(cast) {
  return {
      .name = "cast",
      .doc = "Converts the elements to another dtype.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<CastAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = {cpu::ElementwiseKernel(Run)},
  };
}

}  // namespace

Tensor Cast(const Tensor& x, DType dtype) {
  static const OpDef& op = Op("cast");
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), op.name);
  if (x.dtype() == dtype) return x;
  return Apply1(op, {x}, CastAttrs{dtype});
}

}  // namespace firn

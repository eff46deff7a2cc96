// Tensor's methods that write elements, and those that either write elements or rebind the handle
// to a new result, by the kind of tensor.

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/tensor.h"

namespace firn {
namespace {

// Whether `op=` writes the elements, as for tensors that a module keeps and for leaves that require
// a gradient.
bool KeepsIdentity(const Tensor& t) {
  return t.defined() && (t.impl()->owned || (t.requires_grad() && t.is_leaf()));
}

// Writes what `compute` gives into x, which keeps its shape and dtype.
template <class Compute>
void WriteInto(Tensor& x, const Tensor& other, const char* op, Compute compute) {
  CheckDefined(other, op, "the right side");
  if (GradEnabled() && (x.requires_grad() || other.requires_grad())) {
    RaiseStatus(FailedPrecondition(
                    "would change ", NameOfKept(x), " in place while ",
                    x.requires_grad() ? "its gradient" : "the gradient of the right side",
                    " is recorded; inside NoGradScope it does, `x = x + y` makes a new tensor"),
                op);
  }
  const NoGradScope no_grad;
  const Tensor value = compute(x, other);
  if (value.shape() != x.shape() || (IsFloating(value.dtype()) && !IsFloating(x.dtype()))) {
    RaiseStatus(InvalidArgument(NameOfKept(x), " is ", x.spec().ToString(),
                                " for life and cannot become ", value.spec().ToString()),
                op);
  }
  InNameOf(op, [&] { Assign(x, value); });
}

template <class Compute>
Tensor& Update(Tensor& x, const Tensor& other, const char* op, Compute compute) {
  if (KeepsIdentity(x)) [[unlikely]] {
    WriteInto(x, other, op, compute);
  } else {
    x = compute(x, other);
  }
  return x;
}

}  // namespace

Tensor& Tensor::operator+=(const Tensor& other) {
  return Update(*this, other,
                "operator+=", [](const Tensor& x, const Tensor& y) { return Add(x, y); });
}
Tensor& Tensor::operator-=(const Tensor& other) {
  return Update(*this, other,
                "operator-=", [](const Tensor& x, const Tensor& y) { return Sub(x, y); });
}
Tensor& Tensor::operator*=(const Tensor& other) { return Update(*this, other, "operator*=", Mul); }
Tensor& Tensor::operator/=(const Tensor& other) {
  return Update(*this, other,
                "operator/=", [](const Tensor& x, const Tensor& y) { return Div(x, y); });
}

Tensor& Tensor::CopyFrom(const Tensor& source) {
  InNameOf("copy_from", [&] { Assign(*this, source); });
  return *this;
}
Tensor& Tensor::Fill(inner::Element value) {
  constexpr const char* kName = "fill";
  CheckDefined(*this, kName);
  InNameOf(kName, [&] { Assign(*this, Full(Shape(), value, dtype(), device())); });
  return *this;
}

}  // namespace firn

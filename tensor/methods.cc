// Tensor's methods that run operations: each calls the free function of its name.

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/ops/create/constant.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/linear/matmul.h"
#include "tensor/ops/optimizer/update.h"
#include "tensor/ops/reduce/sum.h"
#include "tensor/ops/shape/convert.h"
#include "tensor/ops/shape/copies.h"
#include "tensor/ops/shape/permute.h"
#include "tensor/ops/shape/views.h"
#include "tensor/owner.h"
#include "tensor/tensor.h"

namespace firn {

Tensor Tensor::To(DType dtype) const { return Cast(*this, dtype); }
Tensor Tensor::To(Device device) const { return ToDevice(*this, device); }
Tensor Tensor::Contiguous() const { return firn::Contiguous(*this); }
Tensor Tensor::Clone() const { return firn::Clone(*this); }
Tensor Tensor::Reshape(const Shape& shape) const { return firn::Reshape(*this, shape); }
Tensor Tensor::Reshape(std::initializer_list<int64_t> shape) const {
  return firn::Reshape(*this, shape);
}
Tensor Tensor::Matmul(const Tensor& other) const { return firn::Matmul(*this, other); }
Tensor Tensor::Flatten(int64_t start_dim, int64_t end_dim) const {
  return firn::Flatten(*this, start_dim, end_dim);
}
Tensor Tensor::Transpose(int64_t dim0, int64_t dim1) const {
  return firn::Transpose(*this, dim0, dim1);
}
Tensor Tensor::T() const { return firn::Transpose(*this, -2, -1); }
Tensor Tensor::Permute(const DimList& dims) const { return firn::Permute(*this, dims); }
Tensor Tensor::Squeeze(const DimList& dims) const { return firn::Squeeze(*this, dims); }
Tensor Tensor::Unsqueeze(int64_t dim) const { return firn::Unsqueeze(*this, dim); }
Tensor Tensor::Sum(const DimList& dims, bool keepdim) const {
  return firn::Sum(*this, dims, keepdim);
}
Tensor Tensor::Mean(const DimList& dims, bool keepdim) const {
  return firn::Mean(*this, dims, keepdim);
}

namespace {

// Whether `op=` writes the elements: of what a module keeps, and of leaves that want a gradient.
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
  Assign(x, value);
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
  Assign(*this, source);
  return *this;
}
Tensor& Tensor::Fill(double value) {
  CheckDefined(*this, "fill");
  Assign(*this, Full(Shape(), value, dtype(), device()));
  return *this;
}

}  // namespace firn

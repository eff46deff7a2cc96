// Tensor's methods that run operations: each calls the free function of its name.

#include <utility>

#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/grad_meta.h"
#include "tensor/ops/add.h"
#include "tensor/ops/cast.h"
#include "tensor/ops/clone.h"
#include "tensor/ops/contiguous.h"
#include "tensor/ops/matmul.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/reshape.h"
#include "tensor/ops/sum.h"
#include "tensor/tensor.h"

namespace firn {

Tensor Tensor::To(DType dtype) const { return Cast(*this, dtype); }
Tensor Tensor::To(Device device) const {
  if (!defined()) RaiseStatus(InvalidArgument("the tensor is undefined"), "to_device");
  if (this->device() == device) return *this;
  RaiseStatus(Unavailable("no device ", device.ToString(), " in this build"), "to_device");
}
Tensor Tensor::Contiguous() const { return firn::Contiguous(*this); }
Tensor Tensor::Clone() const { return firn::Clone(*this); }
Tensor Tensor::Reshape(const Shape& shape) const { return firn::Reshape(*this, shape); }
Tensor Tensor::Reshape(std::initializer_list<int64_t> shape) const {
  return firn::Reshape(*this, shape);
}
Tensor Tensor::Matmul(const Tensor& other) const { return firn::Matmul(*this, other); }
Tensor Tensor::Sum() const { return firn::Sum(*this); }

Tensor Tensor::Detach() const {
  if (!defined()) return {};
  return WrapStorage(impl_->storage, impl_->data, impl_->spec);
}

Tensor& Tensor::operator+=(const Tensor& other) { return *this = Add(*this, other); }
Tensor& Tensor::operator*=(const Tensor& other) { return *this = Mul(*this, other); }

}  // namespace firn

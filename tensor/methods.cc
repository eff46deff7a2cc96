// Tensor's methods that run operations: each calls the free function of its name.

#include <utility>

#include "tensor/apply.h"
#include "tensor/ops/add.h"
#include "tensor/ops/assign.h"
#include "tensor/ops/cast.h"
#include "tensor/ops/clone.h"
#include "tensor/ops/contiguous.h"
#include "tensor/ops/div.h"
#include "tensor/ops/flatten.h"
#include "tensor/ops/full.h"
#include "tensor/ops/matmul.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/permute.h"
#include "tensor/ops/reshape.h"
#include "tensor/ops/squeeze.h"
#include "tensor/ops/sub.h"
#include "tensor/ops/sum.h"
#include "tensor/ops/to_device.h"
#include "tensor/ops/transpose.h"
#include "tensor/ops/unsqueeze.h"
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
Tensor Tensor::Flatten(int start_dim, int end_dim) const {
  return firn::Flatten(*this, start_dim, end_dim);
}
Tensor Tensor::Transpose(int dim0, int dim1) const { return firn::Transpose(*this, dim0, dim1); }
Tensor Tensor::T() const { return firn::Transpose(*this, -2, -1); }
Tensor Tensor::Permute(std::vector<int64_t> dims) const {
  return firn::Permute(*this, std::move(dims));
}
Tensor Tensor::Squeeze(std::vector<int64_t> dims) const {
  return firn::Squeeze(*this, std::move(dims));
}
Tensor Tensor::Unsqueeze(int dim) const { return firn::Unsqueeze(*this, dim); }
Tensor Tensor::Sum() const { return firn::Sum(*this); }

Tensor& Tensor::operator+=(const Tensor& other) { return *this = Add(*this, other); }
Tensor& Tensor::operator-=(const Tensor& other) { return *this = Sub(*this, other); }
Tensor& Tensor::operator*=(const Tensor& other) { return *this = Mul(*this, other); }
Tensor& Tensor::operator/=(const Tensor& other) { return *this = Div(*this, other); }

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

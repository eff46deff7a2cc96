// sum_to: composed of sum and reshape; not an operation of its own.

#include "tensor/ops/sum_to.h"

#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/ops/reshape.h"
#include "tensor/ops/sum.h"

namespace firn {

Tensor SumTo(const Tensor& x, const Shape& shape) {
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), "sum_to");
  if (x.shape() == shape) return x;
  if (!BroadcastsTo(shape, x.shape())) {
    RaiseStatus(
        InvalidArgument("x ", x.shape().ToString(), " was not broadcast from ", shape.ToString()),
        "sum_to");
  }
  const int lead = x.rank() - shape.rank();
  DimList dims;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < lead || (shape[i - lead] == 1 && x.shape()[i] != 1)) dims.push_back(i);
  }
  return Reshape(dims.empty() ? x : Sum(x, dims, true), shape);
}

}  // namespace firn

#ifndef FIRN_TENSOR_PENDING_H_
#define FIRN_TENSOR_PENDING_H_

// Pending tensors: parameters whose shape follows from the first input of their module. Such a
// tensor is defined and may be kept (an optimizer holds its parameters before the first forward)
// but has no elements; every operation refuses it by its owner's name for it (tensor/owner.h).
// Materialize gives it shape and elements, seen through all its handles.
//
// Between the calls of its module, a parameter that each call computes (nn/parametrize.h) is
// pending too. It has a shape, and nothing materializes it.

#include <string>

#include "firn/device/status_fwd.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
// A pending tensor of that dtype and device; its shape reads [0].
Tensor MakePending(DType dtype, Device device);
}  // namespace inner

inline bool IsPending(const Tensor& t) { return t.defined() && !t.impl()->storage; }

namespace inner {
// Gives `pending` the elements of `value`, which are shared from then on; requires_grad stays as it
// was. Requires: IsPending(pending), value is defined and not pending.
void Materialize(const Tensor& pending, const Tensor& value);

// Whether the shape is known: that of every tensor that is not pending, and of pending ones that
// stand for computed parameters. Requires: t.defined().
bool HasShape(const Tensor& t);

// For people: "parameter net.fc.weight f32 [4, ?], pending until the first forward of its module",
// or "..., computed by each call of its module".
// Requires: IsPending(t).
std::string DescribePending(const Tensor& t);

// FailedPrecondition that names the tensor. Requires: IsPending(t).
absl::Status PendingError(const Tensor& t);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_PENDING_H_

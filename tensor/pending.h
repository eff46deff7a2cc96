#ifndef FIRN_TENSOR_PENDING_H_
#define FIRN_TENSOR_PENDING_H_

// Pending tensors: parameters whose shape follows from the first input of their module. Such a
// tensor is defined and may be kept (an optimizer holds its parameters before the first forward)
// but has no elements; every operation refuses it by its owner's name for it. Materialize gives it
// shape and elements, seen through all its handles.

#include <string>

#include "absl/status/status.h"
#include "tensor/tensor.h"

namespace firn {

// Who will materialise a tensor. Outlives that moment or calls Disown.
class PendingOwner {
 public:
  // As users know the tensor: "net.fc.weight".
  virtual std::string PendingName() const = 0;
  // What is known of its shape, "[4, ?]"; empty when nothing is.
  virtual std::string PendingShape() const { return ""; }

 protected:
  ~PendingOwner() = default;
};

// A pending tensor of that dtype and device; its shape reads [0]. `owner` may be null.
Tensor MakePending(DType dtype, Device device, const PendingOwner* owner);

inline bool IsPending(const Tensor& t) { return t.defined() && !t.impl()->storage; }

// Gives `pending` the elements of `value`, which are shared from then on; requires_grad stays as it
// was. Requires: IsPending(pending), value is defined and not pending.
void Materialize(const Tensor& pending, const Tensor& value);

// Forgets the owner of a tensor that stays pending for ever.
void Disown(const Tensor& pending);

// For people: "net.fc.weight f32 [4, ?], pending until the first forward of its module". Requires:
// IsPending(t).
std::string DescribePending(const Tensor& t);

// FailedPrecondition that names the tensor. Requires: IsPending(t).
absl::Status PendingError(const Tensor& t);

}  // namespace firn

#endif  // FIRN_TENSOR_PENDING_H_

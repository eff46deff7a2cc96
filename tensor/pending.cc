// A pending tensor is a TensorImpl without storage: one compare in Apply finds it, and Materialize
// fills the same object in, so handles taken before see the elements.

#include "tensor/pending.h"

#include <utility>

#include "device/check.h"
#include "device/status_macros.h"
#include "tensor/grad_meta.h"

namespace firn {

Tensor MakePending(DType dtype, Device device, const PendingOwner* owner) {
  auto impl = MakeIntrusive<TensorImpl>();
  impl->spec = TensorSpec::Contiguous(dtype, Shape{0}, device);
  Tensor t(std::move(impl));
  EnsureGradMeta(t).pending_owner = owner;
  return t;
}

void Materialize(const Tensor& pending, const Tensor& value) {
  FIRN_CHECK(IsPending(pending) && value.defined() && !IsPending(value));
  TensorImpl* impl = pending.impl();
  impl->storage = value.impl()->storage;
  impl->data = value.impl()->data;
  impl->spec = value.spec();
  Disown(pending);
}

void Disown(const Tensor& pending) {
  if (pending.defined()) EnsureGradMeta(pending).pending_owner = nullptr;
}

absl::Status PendingError(const Tensor& t) {
  const GradMeta* meta = t.impl()->grad_meta.get();
  const bool named = meta != nullptr && meta->pending_owner != nullptr;
  return FailedPrecondition("parameter ", named ? meta->pending_owner->PendingName() : "(unnamed)",
                            " has no size yet: it is found by the first forward of its module");
}

}  // namespace firn

// A pending tensor is a TensorImpl without storage: one compare in Apply finds it, and Materialize
// fills the same object in, so handles taken before see the elements.

#include "tensor/pending.h"

#include <utility>

#include "absl/strings/str_cat.h"
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

namespace {

// Null once it has gone.
const PendingOwner* OwnerOf(const Tensor& t) {
  const GradMeta* meta = t.impl()->grad_meta.get();
  return meta == nullptr ? nullptr : meta->pending_owner;
}

}  // namespace

std::string DescribePending(const Tensor& t) {
  const PendingOwner* owner = OwnerOf(t);
  const std::string shape = owner == nullptr ? "" : owner->PendingShape();
  return absl::StrCat(owner == nullptr ? "" : owner->PendingName() + " ", Name(t.dtype()),
                      shape.empty() ? "" : " ", shape,
                      ", pending until the first forward of its module");
}

absl::Status PendingError(const Tensor& t) {
  const PendingOwner* owner = OwnerOf(t);
  return FailedPrecondition("parameter ", owner == nullptr ? "(unnamed)" : owner->PendingName(),
                            " has no size yet: it is found by the first forward of its module");
}

}  // namespace firn

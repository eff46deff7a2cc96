// A pending tensor is a TensorImpl without storage: one compare in Apply finds it, and Materialize
// fills the same object in, so handles taken before see the elements.

#include "firn/tensor/pending.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/check.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/grad_meta.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/storage.h"

namespace firn {

Tensor inner::MakePending(DType dtype, Device device) {
  auto impl = MakeIntrusive<TensorImpl>();
  impl->spec = TensorSpec::Contiguous(dtype, Shape{0}, device);
  return Tensor(std::move(impl));
}

void inner::Materialize(const Tensor& pending, const Tensor& value) {
  FIRN_CHECK(IsPending(pending) && value.defined() && !IsPending(value));
  TensorImpl* impl = pending.impl();
  impl->storage = value.impl()->storage;
  impl->data = value.impl()->data;
  impl->spec = value.spec();
}

namespace {

bool IsStandIn(const Tensor& t) {
  return IsPending(t) && t.impl()->owned && t.impl()->grad_meta->owners.front()->IsComputed();
}

}  // namespace

bool inner::HasShape(const Tensor& t) { return !IsPending(t) || IsStandIn(t); }

std::string inner::DescribePending(const Tensor& t) {
  const TensorOwner* owner = t.impl()->owned ? t.impl()->grad_meta->owners.front() : nullptr;
  const std::string shape = owner == nullptr ? "" : owner->KnownShape();
  return absl::StrCat(owner == nullptr ? "" : owner->OwnedName() + " ", DTypeName(t.dtype()),
                      shape.empty() ? "" : " ", shape,
                      HasShape(t) ? ", computed by each call of its module"
                                  : ", pending until the first forward of its module");
}

absl::Status inner::PendingError(const Tensor& t) {
  if (HasShape(t)) {
    return FailedPrecondition(NameOfKept(t),
                              " is parametrized: it has elements while its module is called, or a"
                              " parametrize::Held lives; parametrize::Value computes it");
  }
  return FailedPrecondition(t.impl()->owned ? NameOfKept(t) : "parameter (unnamed)",
                            " has no size yet: it is found by the first forward of its module");
}

}  // namespace firn

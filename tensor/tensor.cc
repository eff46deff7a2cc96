// Tensor: handles, numbers as tensors, and the autograd fields. Methods that run operations are in
// methods.cc, reading elements on the host is in host_access.cc.

#include "firn/tensor/tensor.h"

#include <utility>

#include "firn/device/check.h"
#include "firn/device/macros.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/grad_meta.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/reorder.h"

// Every tensor is made and dropped here, so the calls within count (benchmarks/README.md tells how
// to count instructions).

namespace firn {

TensorImpl::TensorImpl() : born_in(0) {}
TensorImpl::TensorImpl(IntrusivePtr<Storage> s, void* d, const TensorSpec& sp)
    : storage(std::move(s)), data(static_cast<char*>(d)), spec(sp), born_in(0) {}
FIRN_FLATTEN TensorImpl::~TensorImpl() = default;
FIRN_FLATTEN void TensorImpl::Destroy(TensorImpl* p) noexcept { delete p; }

void GradNode::Destroy(GradNode* node) noexcept {
  // Deleting a node drops the nodes it holds, which may be their last references: a list of those
  // turns that recursion, as deep as the network, into a loop.
  static thread_local constinit bool destroying = false;
  static thread_local constinit GradNode* pending = nullptr;
  if (destroying) {
    node->next_pending_ = std::exchange(pending, node);
    return;
  }
  destroying = true;
  delete node;
  while (pending != nullptr) {
    GradNode* const next = std::exchange(pending, pending->next_pending_);
    delete next;
  }
  destroying = false;
}

FIRN_NOINLINE GradMeta::~GradMeta() = default;

GradMeta& inner::EnsureGradMeta(const Tensor& t) {
  auto& meta = t.impl()->grad_meta;
  if (meta == nullptr) meta = std::make_unique<GradMeta>();
  return *meta;
}

namespace {

FIRN_ALWAYS_INLINE Tensor Wrap(IntrusivePtr<Storage> storage, void* data, const TensorSpec& spec) {
  IntrusivePtr<TensorImpl> impl = MakeIntrusive<TensorImpl>(std::move(storage), data, spec);
  impl->born_in = internal::dispatch_state.running_capture();
  return Tensor(std::move(impl));
}

FIRN_NOINLINE absl::Status AllocateSlow(const TensorSpec& spec, AllocTag tag, Tensor* out) {
  FIRN_ASSIGN_OR_RETURN(IntrusivePtr<Storage> storage,
                        Storage::Allocate(spec.bytes(), spec.device, tag));
  void* const data = storage->data();
  *out = Wrap(std::move(storage), data, spec);
  return absl::OkStatus();
}

}  // namespace

FIRN_FLATTEN absl::Status inner::AllocateInto(const TensorSpec& spec, AllocTag tag, Tensor* out) {
  IntrusivePtr<Storage> storage = Storage::TakeCached(spec.bytes(), spec.device, tag);
  if (!storage) [[unlikely]]
    return AllocateSlow(spec, tag, out);
  void* const data = storage->data();
  *out = Wrap(std::move(storage), data, spec);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> inner::AllocateTensor(const TensorSpec& spec, AllocTag tag) {
  Tensor t;
  FIRN_RETURN_IF_ERROR(AllocateInto(spec, tag, &t));
  return t;
}

FIRN_FLATTEN Tensor inner::WrapStorage(IntrusivePtr<Storage> storage, void* data,
                                       const TensorSpec& spec) {
  return Wrap(std::move(storage), data, spec);
}

// --- Numbers -------------------------------------------------------------------------------------

namespace {

template <class T>
Tensor NumberTensor(T value) {
  absl::StatusOr<Tensor> t =
      AllocateTensor(TensorSpec::Contiguous(DTypeOf<T>(), Shape(), Device::Cpu()));
  RaiseIfError(t.status(), "number");
  *reinterpret_cast<T*>(t->impl()->data) = value;
  t->impl()->weak_number = true;
  return *std::move(t);
}

}  // namespace

Tensor Tensor::FromNumber(double number) {
  Tensor t = NumberTensor(static_cast<float>(number));
  t.impl()->number = number;
  return t;
}
Tensor Tensor::FromNumber(bool number) { return NumberTensor(number); }
Tensor Tensor::FromInteger(int64_t number) { return NumberTensor(number); }
void Tensor::RaiseTooLarge(uint64_t number) {
  RaiseStatus(OutOfRange("no dtype holds the integer ", number, "; the largest is ", INT64_MAX),
              "number");
}

void Tensor::RaiseUndefined() {
  RaiseStatus(FailedPrecondition("the tensor is undefined: it was default-made or moved from, or is"
                                 " the grad() of a leaf that no backward pass has reached"),
              "tensor");
}

// --- Sizes ---------------------------------------------------------------------------------------

int64_t Tensor::size(Integer dim) const {
  if (!shape().has_dim(dim)) {
    RaiseStatus(OutOfRange("dim ", dim, " is outside ", shape().ToString()), "size");
  }
  return shape().dim(dim);
}

// --- Gradients -----------------------------------------------------------------------------------

bool Tensor::is_leaf() const { return !defined() || !impl_->grad_node; }

Tensor& Tensor::SetRequiresGrad(Flag on) {
  if (!defined()) RaiseStatus(InvalidArgument("the tensor is undefined"), "set_requires_grad");
  if (on && !IsFloating(dtype())) {
    RaiseStatus(InvalidArgument("only floating tensors have gradients, got ", spec().ToString()),
                "set_requires_grad");
  }
  if (!is_leaf()) {
    RaiseStatus(FailedPrecondition("a computed tensor's requires_grad follows from its inputs; use "
                                   "Detach() to cut its history"),
                "set_requires_grad");
  }
  impl_->requires_grad = on;
  if (on) impl_->weak_number = false;  // numbers are converted without a record of it
  return *this;
}

Tensor Tensor::Detach() const {
  if (!defined()) return {};
  // What a capture finds, it lays out anew as long as there is one handle (graph/recorder.cc).
  const DispatchState& s = ThisThread();
  if (s.capture != nullptr && impl_->born_in != s.capture_number) [[unlikely]] {
    RaiseIfError(LayOutRowMajorIfAlone(*this), "detach");
    s.capture->BeforeDetach(*this);
  }
  return WrapStorage(impl_->storage, impl_->data, impl_->spec);
}

const Tensor& inner::HeldGrad(const Tensor& leaf) {
  static const Tensor* undefined = new Tensor;
  const GradMeta* meta = leaf.impl()->grad_meta.get();
  if (meta == nullptr) return *undefined;
  return meta->retained != nullptr ? *meta->retained : meta->grad;
}

void inner::HoldGrad(const Tensor& leaf, Tensor grad) {
  if (!grad.defined() && leaf.impl()->grad_meta == nullptr) return;
  GradMeta& meta = EnsureGradMeta(leaf);
  (meta.retained != nullptr ? *meta.retained : meta.grad) = std::move(grad);
  meta.withheld = false;
}

absl::Status inner::WithheldError(const Tensor& leaf) {
  return FailedPrecondition("the gradient of ", NameOfKept(leaf),
                            " was computed by a frozen graph that keeps it to itself; freeze with"
                            " CompileOptions{.keep_gradients = true}, or begin anew with ZeroGrad");
}

const Tensor& Tensor::grad() const {
  if (!defined()) RaiseUndefined();
  if (IsWithheld(*this)) [[unlikely]]
    RaiseStatus(WithheldError(*this), "grad");
  if (ThisThread().capture != nullptr) ThisThread().capture->BeforeGetGrad(*this);
  return HeldGrad(*this);
}

void Tensor::SetGrad(Tensor grad) {
  if (!defined()) RaiseStatus(InvalidArgument("the tensor is undefined"), "set_grad");
  if (ThisThread().capture != nullptr) ThisThread().capture->BeforeSetGrad(*this);
  if (grad.defined() &&
      (grad.shape() != shape() || grad.dtype() != dtype() || grad.device() != device())) {
    RaiseStatus(InvalidArgument("the gradient of ", spec().ToString(), " cannot be ",
                                grad.spec().ToString()),
                "set_grad");
  }
  HoldGrad(*this, std::move(grad));
}

Tensor& Tensor::RetainGrad() {
  if (!defined()) RaiseUndefined();
  if (!requires_grad()) {
    RaiseStatus(FailedPrecondition("the tensor does not require a gradient"), "retain_grad");
  }
  GradMeta& meta = EnsureGradMeta(*this);
  if (impl_->grad_node && meta.retained == nullptr) {
    meta.retained = std::make_shared<Tensor>();
    impl_->grad_node->Retain(impl_->grad_slot, meta.retained);
  }
  return *this;
}

void Tensor::Backward(const Tensor& seed, Flag retain_graph) const {
  if (internal::grad_recorder == nullptr) {
    RaiseStatus(FailedPrecondition("//autograd is not linked into this program"), "backward");
  }
  internal::grad_recorder->Backward(*this, seed, retain_graph);
}

}  // namespace firn

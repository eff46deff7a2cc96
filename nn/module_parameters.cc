// A module's tensors: made under their names, listed, shared, and converted in place, all or none.

#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/nn/module.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/grad_meta.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::nn {
namespace {

Tensor NewTensor(const Shape& shape, DType dtype, Device device) {
  absl::StatusOr<Tensor> t =
      AllocateTensor(TensorSpec::Contiguous(dtype, shape, device), AllocTag::kParameter);
  RaiseIfError(t.status(), "parameter");
  return *std::move(t);
}

// Gives the tensor object other elements, seen through all its handles. Values that the tape saved
// before are found changed, as by any write.
void Replace(const Tensor& t, const Tensor& value) {
  TensorImpl* impl = t.impl();
  const uint32_t version = impl->storage->version();
  while (value.impl()->storage->version() <= version) value.impl()->storage->BumpVersion();
  impl->storage = value.impl()->storage;
  impl->data = value.impl()->data;
  impl->spec = value.spec();
}

// Moves the slots' tensors to a device, or the floating ones to a dtype; all or none, so everything
// is made before the first is replaced.
void ConvertAll(const auto& slots, std::optional<Device> device, std::optional<DType> dtype) {
  struct Converted {
    Tensor target, value, grad;  // no value: pending
  };
  const auto device_of = [&](const Tensor& t) { return device.value_or(t.device()); };
  const auto dtype_of = [&](const Tensor& t) {
    return IsFloating(t.dtype()) ? dtype.value_or(t.dtype()) : t.dtype();
  };
  const auto convert = [&](const Tensor& t) {
    return t.defined() ? Cast(t.Detach().To(device_of(t)), dtype_of(t)) : Tensor();
  };
  const NoGradScope no_grad;
  std::vector<Converted> all;
  std::set<const TensorImpl*> seen;
  for (const auto& s : slots) {
    const Tensor& t = s.slot->tensor;
    if (!seen.insert(t.impl()).second) continue;
    all.push_back(IsPending(t) ? Converted{t, {}, {}}
                               : Converted{t, convert(t), convert(HeldGrad(t))});
  }
  for (auto& [target, value, grad] : all) {
    if (!value.defined()) {
      TensorSpec& spec = target.impl()->spec;
      spec.device = device_of(target);
      spec.dtype = dtype_of(target);
    } else if (value.impl()->storage != target.impl()->storage) {
      target.ZeroGrad();
      Replace(target, value);
      if (grad.defined()) target.SetGrad(grad);
    }
  }
}

}  // namespace

std::string Module::TensorSlot::OwnedName() const {
  return absl::StrCat(is_parameter ? "parameter " : "buffer ", module->path(), ".", name);
}

void Module::TensorSlot::Keep(Tensor t) {
  // A destroyed module does not count as a replacement, since graphs may outlive it.
  if (kept && t.defined() && !tensor.Is(t)) NoteReplaced(tensor);
  if (kept) Disown(tensor, this);
  tensor = std::move(t);
  kept = tensor.defined();
  if (kept) Own(tensor, this);
}

void Module::TensorSlot::MakeComputed(const TensorSpec& spec) {
  const Tensor pending = MakePending(spec.dtype, spec.device);
  pending.impl()->spec = TensorSpec::Contiguous(spec.dtype, spec.shape, spec.device);
  sizes.clear();
  for (int i = 0; i < spec.shape.rank(); ++i) sizes.push_back(spec.shape[i]);
  Keep(pending);
  stand_in = pending;
}

void Module::TensorSlot::CheckKept() const {
  if (kept == tensor.defined()) [[likely]]
    return;
  RaiseStatus(FailedPrecondition(OwnedName(),
                                 " was registered without a tensor, as one that this module lacks,"
                                 " and one was assigned to it since; register that one"),
              "module");
}

Module::TensorSlot& Module::AddSlot(std::string slot_name, Tensor tensor, bool is_parameter) {
  bool taken = false;
  for (const auto& s : slots_) taken |= s->name == slot_name;
  CheckNewName(slot_name, taken, is_parameter ? "add_parameter" : "add_buffer");
  slots_.push_back(
      std::make_unique<TensorSlot>(this, std::move(slot_name), std::move(tensor), is_parameter));
  return *slots_.back();
}

Tensor& Module::AddParameter(std::string parameter_name, Tensor initial) {
  if (initial.defined()) initial.SetRequiresGrad();
  return AddSlot(std::move(parameter_name), std::move(initial), true).tensor;
}

Tensor& Module::AddBuffer(std::string buffer_name, Tensor initial) {
  return AddSlot(std::move(buffer_name), std::move(initial), false).tensor;
}

Tensor& Module::AddPendingSlot(std::string slot_name, const std::vector<int64_t>& sizes,
                               bool is_parameter) {
  TensorSlot& slot = AddSlot(std::move(slot_name), {}, is_parameter);
  slot.sizes = sizes;
  slot.Keep(MakePending(kDefaultFloat, Device::Cpu()));
  slot.tensor.SetRequiresGrad(is_parameter);
  return slot.tensor;
}

Tensor& Module::AddPendingParameter(std::string parameter_name, const std::vector<int64_t>& sizes) {
  return AddPendingSlot(std::move(parameter_name), sizes, true);
}

Tensor& Module::AddPendingBuffer(std::string buffer_name, const std::vector<int64_t>& sizes) {
  return AddPendingSlot(std::move(buffer_name), sizes, false);
}

void Module::InitPending(Tensor& pending, const Shape& shape,
                         const init::Initializer& initializer) {
  if (!IsPending(pending)) return;
  if (HasShape(pending)) RaiseStatus(PendingError(pending), path());  // it is computed
  const NoGradScope no_grad;
  const NoCaptureScope no_capture;
  Tensor value = NewTensor(shape, pending.dtype(), Device::Cpu());
  initializer(value);
  value = value.To(pending.device());
  Materialize(pending, value);
}

std::vector<Module::NamedTensorSlot> Module::SlotsWithoutNames(bool computed_too) const {
  std::vector<NamedTensorSlot> all;
  for (Module* m : Modules()) {
    for (const bool parameters : {true, false}) {
      for (const auto& s : m->slots_) {
        s->CheckKept();
        if (s->is_parameter != parameters || !s->tensor.defined()) continue;
        if (!s->IsComputed() || (computed_too && s->is_away())) all.push_back({"", s.get()});
      }
    }
  }
  return all;
}

std::vector<Module::NamedTensorSlot> Module::Slots() const {
  std::vector<NamedTensorSlot> all = SlotsWithoutNames();
  std::vector<const Module*> above;
  std::string prefix;
  const Module* of = nullptr;
  for (NamedTensorSlot& s : all) {
    if (s.slot->module != of) {
      of = s.slot->module;
      above.clear();
      for (const Module* m = of; m != this; m = m->parent_) above.push_back(m);
      prefix.clear();
      for (size_t i = above.size(); i-- > 0;) absl::StrAppend(&prefix, above[i]->name_, ".");
    }
    s.name = absl::StrCat(prefix, s.slot->name);
  }
  return all;
}

std::vector<NamedTensor> Module::named_parameters() const {
  std::vector<NamedTensor> named;
  std::set<const TensorImpl*> seen;
  for (const NamedTensorSlot& s : Slots()) {
    if (s.slot->is_parameter && seen.insert(s.slot->tensor.impl()).second) {
      named.push_back({s.name, s.slot->tensor});
    }
  }
  return named;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> tensors;
  std::set<const TensorImpl*> seen;
  for (const NamedTensorSlot& s : SlotsWithoutNames()) {
    const bool first = s.slot->is_parameter && seen.insert(s.slot->tensor.impl()).second;
    if (first) tensors.push_back(s.slot->tensor);
  }
  return tensors;
}

std::vector<NamedTensor> Module::named_buffers() const {
  std::vector<NamedTensor> named;
  for (const NamedTensorSlot& s : Slots()) {
    if (!s.slot->is_parameter) named.push_back({s.name, s.slot->tensor});
  }
  return named;
}

int64_t Module::num_parameters() const {
  int64_t n = 0;
  for (const Tensor& p : parameters()) n += p.num_elements();
  return n;
}

void Module::ShareParameter(const std::string& name, const Tensor& parameter) {
  const char* const kName = "share_parameter";
  if (!parameter.defined()) {
    RaiseStatus(InvalidArgument(name, " cannot be an undefined tensor"), kName);
  }
  TensorSlot* slot = nullptr;
  std::vector<std::string> names;
  for (const NamedTensorSlot& s : Slots()) {
    if (!s.slot->is_parameter) continue;
    if (s.name == name) slot = s.slot;
    names.push_back(s.name);
  }
  if (slot == nullptr) {
    RaiseStatus(
        NotFound("there is no parameter named ", name, inner::internal::InsteadOf(name, names)),
        kName);
  }
  const bool pending = IsPending(parameter);
  if (pending && HasShape(parameter)) RaiseStatus(PendingError(parameter), kName);
  if (pending ? !IsPending(slot->tensor) : !slot->Fits(parameter.shape())) {
    RaiseStatus(InvalidArgument(name, " is ", slot->ShapeText(), " and cannot be ",
                                pending ? "a pending tensor" : parameter.shape().ToString()),
                kName);
  }
  for (const NamedTensorSlot& s : root().Slots()) {
    if (!pending || !s.slot->tensor.Is(parameter) || s.slot->AgreesWith(*slot)) continue;
    RaiseStatus(InvalidArgument(name, " is ", slot->ShapeText(), " and cannot be ", s.name,
                                ", which is ", s.slot->ShapeText()),
                kName);
  }
  slot->Keep(parameter);
}

void Module::To(Device device) { ConvertAll(SlotsWithoutNames(true), device, std::nullopt); }

void Module::To(DType dtype) {
  if (!IsFloating(dtype)) {
    RaiseStatus(InvalidArgument("parameters must be floating, not ", DTypeName(dtype)), "to");
  }
  ConvertAll(SlotsWithoutNames(true), std::nullopt, dtype);
}

}  // namespace firn::nn

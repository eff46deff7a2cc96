// Module: the tree, names, parameters and modes. Saving and loading are in module_state.cc.
//
// A child is made by a factory that the parent keeps, so that a clone of any subclass can be made.
// Paths are made at first use, when the whole tree stands, and forgotten when a name above changes;
// they are interned, so a call costs one pointer and records may keep them.

#include "firn/nn/module.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <optional>
#include <set>
#include <typeinfo>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/type_names.h"
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

Module::Module() = default;

// A child's destructor would destroy its own children, and so on, on a stack as deep as the tree.
// So those that a destructor finds while another runs on this thread wait in a list, which goes
// through their parent_.
Module::~Module() {
  static thread_local constinit bool destroying = false;
  static thread_local constinit Module* waiting = nullptr;
  for (auto it = children_.rbegin(); it != children_.rend(); ++it) {
    Module* const child = it->release();
    child->parent_ = std::exchange(waiting, child);
  }
  children_.clear();
  if (destroying) return;
  destroying = true;
  while (waiting != nullptr) {
    const std::unique_ptr<Module> next(waiting);
    waiting = std::exchange(next->parent_, nullptr);
  }
  destroying = false;
}

void CallScope::RaiseTooDeep(const Module& module) {
  --depth_;                          // no destructor comes
  const PathScope no_path(nullptr);  // it would be pages long
  RaiseStatus(ResourceExhausted("more than ", kMostNested,
                                " calls of modules run inside each other, the last one of a ",
                                module.type_name(),
                                "; each takes a part of the stack. Put layers one after another"
                                " into one Sequential, not each into the one before"),
              absl::StrCat("call at ", module.root().path()));
}

// --- Names --------------------------------------------------------------------------------------

std::string Module::type_name() const { return ClassName(typeid(*this)); }

std::string Module::name() const { return name_.empty() ? SnakeCase(type_name()) : name_; }

const std::string* Module::MakePath() const {
  std::vector<std::string> names;  // the innermost first
  for (const Module* m = this; m != nullptr; m = m->parent_) names.push_back(m->name());
  std::string path = std::move(names.back());
  for (size_t i = names.size() - 1; i-- > 0;) absl::StrAppend(&path, ".", names[i]);
  const std::string* interned = PathScope::Intern(path);
  __atomic_store_n(&path_, interned, __ATOMIC_RELEASE);
  return interned;
}

void Module::ForgetPaths() {
  VisitModules([](Module& m) { __atomic_store_n(&m.path_, nullptr, __ATOMIC_RELEASE); });
}

void Module::SetName(std::string name) {
  if (parent_ != nullptr) {
    RaiseStatus(FailedPrecondition("the module is ", parent_->path(),
                                   "'s child and keeps the name that Add gave it"),
                "set_name");
  }
  name_ = std::move(name);
  ForgetPaths();
}

// --- The tree -----------------------------------------------------------------------------------

std::vector<NamedModule> Module::named_modules() const {
  std::vector<NamedModule> done;
  std::vector<NamedModule> open = {{"", const_cast<Module*>(this)}};
  while (!open.empty()) {
    const NamedModule m = open.back();
    open.pop_back();
    for (auto it = m.module->children_.rbegin(); it != m.module->children_.rend(); ++it) {
      open.push_back(
          {m.name.empty() ? (*it)->name_ : absl::StrCat(m.name, ".", (*it)->name_), it->get()});
    }
    done.push_back(m);
  }
  return done;
}

std::vector<Module*> Module::Modules() const {
  std::vector<Module*> done, open = {const_cast<Module*>(this)};
  while (!open.empty()) {
    Module* const m = open.back();
    open.pop_back();
    done.push_back(m);
    for (auto it = m->children_.rbegin(); it != m->children_.rend(); ++it) {
      open.push_back(it->get());
    }
  }
  return done;
}

void Module::VisitModules(const std::function<void(Module&)>& f) {
  for (Module* m : Modules()) f(*m);
}

Module& Module::child(size_t i) const {
  if (i >= children_.size()) {
    RaiseStatus(OutOfRange("there is no child ", i, ", only ", children_.size()),
                absl::StrCat("child of ", path()));
  }
  return *children_[i];
}

Module* Module::FindChild(const std::string& name) const {
  for (const auto& c : children_) {
    if (c->name_ == name) return c.get();
  }
  return nullptr;
}

namespace {

void CheckName(const std::string& name, bool taken, const char* what, const Module& parent) {
  if (name.empty() || name.find('.') != std::string::npos || taken) {
    RaiseStatus(InvalidArgument("\"", name, "\" in ", parent.type_name(), ": ",
                                taken          ? "the name is taken"
                                : name.empty() ? "the name is empty"
                                               : "a name cannot hold a dot"),
                what);
  }
}

}  // namespace

Module& Module::AddMade(std::string child_name, const ModuleFactory& factory) {
  CheckName(child_name, FindChild(child_name) != nullptr, "add", *this);
  std::unique_ptr<Module> child = factory == nullptr ? nullptr : factory(nullptr);
  if (child == nullptr) {
    RaiseStatus(InvalidArgument("nothing makes \"", child_name, "\" in ", type_name(),
                                ": the factory is empty, or gave no module"),
                "add");
  }
  child->name_ = std::move(child_name);
  child->parent_ = this;
  child->factory_ = factory;
  if (!training_) child->Train(false);
  child->ForgetPaths();
  children_.push_back(std::move(child));
  return *children_.back();
}

void Module::Drop(Module& child) {
  std::erase_if(children_, [&](const auto& c) { return c.get() == &child; });
}

// --- Parameters ---------------------------------------------------------------------------------

std::string Module::TensorSlot::OwnedName() const {
  return absl::StrCat(is_parameter ? "parameter " : "buffer ", module->path(), ".", name);
}

void Module::TensorSlot::Keep(Tensor t) {
  if (kept) Disown(tensor, this);
  tensor = std::move(t);
  kept = tensor.defined();
  if (kept) Own(tensor, this);
}

void Module::TensorSlot::CheckKept() const {
  if (kept == tensor.defined()) [[likely]]
    return;
  RaiseStatus(FailedPrecondition(OwnedName(),
                                 " was registered as one that this module lacks, and a tensor was"
                                 " assigned to it since; register that tensor"),
              "module");
}

Module::TensorSlot& Module::AddSlot(std::string slot_name, Tensor tensor, bool is_parameter) {
  bool taken = false;
  for (const auto& s : slots_) taken |= s->name == slot_name;
  CheckName(slot_name, taken, is_parameter ? "add_parameter" : "add_buffer", *this);
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
  const NoGradScope no_grad;
  const NoCaptureScope no_capture;
  Tensor value = NewTensor(shape, pending.dtype(), Device::Cpu());
  initializer(value);
  value = value.To(pending.device());
  Materialize(pending, value);
}

std::vector<Module::NamedTensorSlot> Module::SlotsWithoutNames() const {
  std::vector<NamedTensorSlot> all;
  for (Module* m : Modules()) {
    for (const bool parameters : {true, false}) {
      for (const auto& s : m->slots_) {
        s->CheckKept();
        if (s->is_parameter == parameters && s->tensor.defined()) all.push_back({"", s.get()});
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
  for (const NamedTensorSlot& s : Slots()) {
    if (s.name == name && s.slot->is_parameter) slot = s.slot;
  }
  if (slot == nullptr) RaiseStatus(NotFound("there is no parameter named ", name), kName);
  const bool pending = IsPending(parameter);
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

// --- Modes --------------------------------------------------------------------------------------

void Module::Train(bool on) {
  VisitModules([on](Module& m) { m.training_ = on; });
}

void Module::SetTrainable(bool trainable) {
  for (Tensor& p : parameters()) p.SetRequiresGrad(trainable);
}

const Module& Module::root() const {
  const Module* m = this;
  while (m->parent_ != nullptr) m = m->parent_;
  return *m;
}

void Module::CheckPartOf(const Module& caller) {
  if (!training_ || foreign_call_noted_ || !GradEnabled() || &root() == &caller.root()) return;
  foreign_call_noted_ = true;
  std::fprintf(stderr,
               "firn: %s calls %s, which is no part of its network: it is not trained, saved or"
               " switched to evaluation with it. Make it with Add\n",
               caller.path().c_str(), path().c_str());
}

void Module::To(Device device) { ConvertAll(SlotsWithoutNames(), device, std::nullopt); }

void Module::To(DType dtype) {
  if (!IsFloating(dtype)) {
    RaiseStatus(InvalidArgument("parameters must be floating, not ", DTypeName(dtype)), "to");
  }
  ConvertAll(SlotsWithoutNames(), std::nullopt, dtype);
}

HookHandle Module::RegisterForwardPreHook(ForwardPreHook hook) {
  return hooks().pre.Add(std::move(hook));
}

HookHandle Module::RegisterForwardHook(ForwardHook hook) {
  return hooks().post.Add(std::move(hook));
}

HookHandle Module::RegisterBackwardHook(BackwardHook hook) {
  return hooks().backward.Add(std::move(hook));
}

Hooks& Module::hooks() {
  if (hooks_ == nullptr) hooks_ = std::make_unique<Hooks>();
  return *hooks_;
}

// --- Text ---------------------------------------------------------------------------------------

// Margins end where nobody could tell them apart; those of a very deep tree would be most of it.
std::string Module::ToString() const {
  constexpr size_t kWidest = 200;
  struct Open {
    const Module* module;
    size_t next = 0;  // child
  };
  std::string text;
  std::vector<Open> open;
  const auto margin = [&](size_t depth) { return std::string(std::min(2 * depth, kWidest), ' '); };
  const auto begin = [&](const Module& m) {
    absl::StrAppend(&text, m.type_name(), "(", m.Describe());
    open.push_back({&m});
  };
  begin(*this);
  while (!open.empty()) {
    const Module& m = *open.back().module;
    const size_t next = open.back().next++;
    if (next < m.children_.size()) {
      const Module& child = *m.children_[next];
      absl::StrAppend(&text, "\n", margin(open.size()), "(", child.name_, "): ");
      begin(child);
      continue;
    }
    open.pop_back();
    absl::StrAppend(&text, m.children_.empty() ? "" : "\n" + margin(open.size()), ")");
  }
  return text;
}

}  // namespace firn::nn

// A parametrized parameter keeps its slot in the module, so layers find it where it always was. The
// slot's tensor is a pending stand-in between calls and the computed value during them, put there
// by Hooks::Run (nn/hooks.h). The module gets a child, which makes the names that PyTorch has:
//
//   parametrizations              Parametrizations: begins and ends calls
//     weight                      ParametrizationList: its parameters are the originals
//       0, 1, ...                 Transform: its buffers are the parametrization's
//
// The child finds module and slots by parent and name, so a copy needs nothing but the tree.

#include "firn/nn/parametrize.h"

#include <atomic>
#include <memory>

#include "absl/strings/str_cat.h"
#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/pending.h"

namespace firn::nn {

// Access to non-public parts of a module, for parametrizations.
class ComputedSlots {
 public:
  using Slot = Module::TensorSlot;
  static Module& Parent(const Module& m) { return *m.parent_; }
  static const std::string& Name(const Module& m) { return m.name_; }
  static size_t Count(const Module& m) { return m.slots_.size(); }
  static const Tensor& At(const Module& m, size_t i) { return m.slots_[i]->tensor; }
  // Null where there is none.
  static Slot* Find(const Module& m, const std::string& name) {
    for (const auto& s : m.slots_) {
      if (s->name == name && s->is_parameter && s->tensor.defined()) return s.get();
    }
    return nullptr;
  }
  // The parameter; throws NotFound with the existing names.
  static Slot& Get(const Module& m, const std::string& name, const char* who) {
    if (Slot* const found = Find(m, name)) return *found;
    std::vector<std::string> names;
    for (const auto& s : m.slots_) {
      if (s->is_parameter && s->tensor.defined()) names.push_back(s->name);
    }
    RaiseStatus(NotFound(m.path(), " itself has no parameter ", name,
                         inner::internal::InsteadOf(name, names)),
                who);
  }
  static void AddTensor(Module& m, const std::string& name, const Tensor& t, bool is_parameter) {
    m.AddSlot(name, t, is_parameter);
  }
  static Module& AddChild(Module& m, const std::string& name, const ModuleFactory& factory) {
    return m.AddMade(name, factory);
  }
  static void Drop(Module& child) {
    child.parent_->child_of_name_.erase(child.name_);
    std::erase_if(child.parent_->children_, [&](const auto& c) { return c.get() == &child; });
  }
  static void Compute(Module& m, ComputedParameters* by) { m.hooks().computed = by; }
};

namespace parametrize {

using Slots = ComputedSlots;

const Tensor& State::buffer(size_t i) const {
  if (i >= Slots::Count(*transform_)) {
    RaiseStatus(OutOfRange("there is no buffer ", i, ", only ", Slots::Count(*transform_)),
                transform_->path());
  }
  return Slots::At(*transform_, i);
}

namespace internal {

class ParametrizationList final : public Module {
 public:
  const Transform& transform(size_t i) const { return static_cast<const Transform&>(child(i)); }
  TensorList originals() const {
    TensorList all;
    for (size_t i = 0; i < Slots::Count(*this); ++i) all.push_back(Slots::At(*this, i));
    return all;
  }
  Tensor Compute() {
    Tensor value;
    for (size_t i = 0; i < num_children(); ++i) {
      const CallScope scope(child(i));
      value = i == 0 ? transform(0).Forward(originals()) : transform(i).Forward({&value, 1});
      if (!value.defined()) {
        RaiseStatus(InvalidArgument("Forward gave an undefined tensor"), "parametrize");
      }
    }
    return value;
  }
  // The value in evaluation mode, which moves no buffers.
  Tensor ComputeInEval() {
    std::vector<bool> modes;
    for (size_t i = 0; i < num_children(); ++i) modes.push_back(child(i).training());
    const auto give_back = [&](void*) {
      for (size_t i = 0; i < modes.size(); ++i) child(i).Train(bool{modes[i]});
    };
    const std::unique_ptr<void, decltype(give_back)> modes_back(this, give_back);
    for (size_t i = 0; i < modes.size(); ++i) child(i).Eval();
    return Compute();
  }
};

// Thread-compatible. Begin and End may run on several threads at once while a value is held.
class Parametrizations final : public Module, public ComputedParameters {
 public:
  bool held() const { return uses_ != 0; }
  ParametrizationList& list(size_t i) const { return static_cast<ParametrizationList&>(child(i)); }
  void Begin() override {
    if (uses_.fetch_add(1) != 0) return;
    try {
      std::vector<Tensor> values;
      for (size_t i = 0; i < num_children(); ++i) values.push_back(list(i).Compute());
      for (size_t i = 0; i < num_children(); ++i) {
        Slots::Slot& slot = SlotOf(i);
        // The stand-in is changed in place: it has no elements, and the originals may have another
        // dtype by now.
        slot.stand_in.impl()->spec =
            TensorSpec::Contiguous(values[i].dtype(), values[i].shape(), values[i].device());
        slot.Keep(std::move(values[i]));
      }
    } catch (...) {
      End();
      throw;
    }
  }
  void End() noexcept override {
    if (uses_.fetch_sub(1) != 1) return;
    for (size_t i = 0; i < num_children(); ++i) SlotOf(i).Keep(SlotOf(i).stand_in);
  }

 private:
  Slots::Slot& SlotOf(size_t i) const {
    return *Slots::Find(Slots::Parent(*this), Slots::Name(child(i)));
  }

  std::atomic<int> uses_ = 0;  // calls that run, and what holds the values
};

}  // namespace internal

namespace {

using internal::ParametrizationList;
using internal::Parametrizations;
using internal::Transform;

constexpr const char* kChild = "parametrizations";

// Null where nothing is parametrized.
Parametrizations* ChildOf(const Module& m) {
  return dynamic_cast<Parametrizations*>(m.FindChild(kChild));
}

ParametrizationList* ListOf(const Module& m, const std::string& name) {
  const Parametrizations* const all = ChildOf(m);
  return all == nullptr ? nullptr : dynamic_cast<ParametrizationList*>(all->FindChild(name));
}

ParametrizationList& GetList(const Module& m, const std::string& name, const char* who) {
  Slots::Get(m, name, who);
  if (ParametrizationList* const list = ListOf(m, name)) return *list;
  RaiseStatus(FailedPrecondition(name, " of ", m.path(), " is not parametrized"), who);
}

// Values must not change during a call or a capture.
void CheckAtRest(const Module& m, const char* who) {
  const Parametrizations* const all = ChildOf(m);
  if (ThisThread().capture == nullptr && (all == nullptr || !all->held())) return;
  RaiseStatus(FailedPrecondition(ThisThread().capture != nullptr
                                     ? "a capture is running"
                                     : "a call of the module is running, or a Held lives",
                                 "; do it before"),
              absl::StrCat(who, " at ", m.path()));
}

void CheckLike(const Tensor& got, const TensorSpec& want, const std::string& what,
               const char* who) {
  if (got.defined() && got.shape() == want.shape && got.dtype() == want.dtype &&
      got.device() == want.device) {
    return;
  }
  const auto text = [](const TensorSpec& s) {  // without the layout
    return TensorSpec::Contiguous(s.dtype, s.shape, s.device).ToString();
  };
  RaiseStatus(InvalidArgument(what, " must be ", text(want), ", got ",
                              got.defined() ? text(got.spec()) : "an undefined tensor"),
              who);
}

std::string OriginalName(size_t i, size_t n) {
  return n == 1 ? "original" : absl::StrCat("original", i);
}

// A parametrization outside of any tree, in evaluation mode, with its buffers.
struct Trial {
  std::unique_ptr<Module> module;
  const Transform* transform;
  std::vector<NamedTensor> buffers;
  TensorList originals;
};

constexpr const char* kRegister = "parametrize::Register";

// `further`: it computes from the value of the parametrizations before it, and the originals stay.
Trial Try(const ModuleFactory& factory, const Tensor& value, bool further = false) {
  Trial t;
  t.module = factory(nullptr);
  t.transform = static_cast<const Transform*>(t.module.get());
  t.module->Eval();
  t.buffers = t.transform->Buffers(value);
  for (const NamedTensor& b : t.buffers) Slots::AddTensor(*t.module, b.name, b.tensor, false);
  t.originals = t.transform->RightInverse(value);
  for (const Tensor& original : t.originals) {
    if (!original.defined()) {
      RaiseStatus(InvalidArgument("RightInverse gave an undefined tensor"), kRegister);
    }
  }
  if (further && t.originals.size() != 1) {
    RaiseStatus(InvalidArgument(t.module->type_name(), " computes from ", t.originals.size(),
                                " tensors, and what is parametrized already is one"),
                kRegister);
  }
  const std::string what = absl::StrCat("what ", t.module->type_name(), " computes");
  CheckLike(t.transform->Forward(further ? TensorList{value} : t.originals), value.spec(), what,
            kRegister);
  return t;
}

void AddTransform(ParametrizationList& list, const ModuleFactory& factory, const Trial& trial) {
  Module& made = Slots::AddChild(list, absl::StrCat(list.num_children()), factory);
  for (const NamedTensor& b : trial.buffers) Slots::AddTensor(made, b.name, b.tensor, false);
}

void AddFurther(ParametrizationList& list, const ModuleFactory& factory) {
  AddTransform(list, factory, Try(factory, list.ComputeInEval().Detach(), true));
  for (const Tensor& t : list.originals()) NoteReplaced(t);
}

// Drops the list, if there is one, and modules that become empty by that.
void DropList(Module& m, ParametrizationList* list) {
  if (list != nullptr) Slots::Drop(*list);
  Parametrizations& all = *ChildOf(m);
  if (all.num_children() != 0) return;
  Slots::Compute(m, nullptr);
  Slots::Drop(all);
}

// Gives the list its originals. The present parameter stays one of them if possible.
void AddOriginals(ParametrizationList& list, const Tensor& parameter, const TensorList& originals) {
  const size_t n = originals.size();
  const bool same = n == 1 && originals[0].shape() == parameter.shape() &&
                    originals[0].dtype() == parameter.dtype() &&
                    originals[0].device() == parameter.device();
  for (size_t i = 0; i < n; ++i) {
    Tensor t = same ? parameter : Clone(originals[i].Detach());
    if (!same) t.SetRequiresGrad(parameter.requires_grad());
    Slots::AddTensor(list, OriginalName(i, n), t, true);
  }
  if (same) Assign(parameter, originals[0]);
}

}  // namespace

void internal::RegisterMade(Module& module, const std::string& name, const ModuleFactory& factory) {
  CheckAtRest(module, kRegister);
  const NoGradScope no_grad;
  Slots::Slot& slot = Slots::Get(module, name, kRegister);
  if (ParametrizationList* const list = ListOf(module, name)) return AddFurther(*list, factory);
  if (IsPending(slot.tensor)) RaiseStatus(PendingError(slot.tensor), kRegister);
  const Tensor parameter = slot.tensor;
  const Trial trial = Try(factory, Clone(parameter.Detach()));

  Parametrizations* all = ChildOf(module);
  if (all == nullptr) {
    all = static_cast<Parametrizations*>(
        &Slots::AddChild(module, kChild, FactoryFrom<Parametrizations>()));
  }
  try {
    auto& list = static_cast<ParametrizationList&>(
        Slots::AddChild(*all, name, FactoryFrom<ParametrizationList>()));
    AddTransform(list, factory, trial);
    Slots::Compute(module, all);
    AddOriginals(list, parameter, trial.originals);
    slot.MakeComputed(parameter.spec());
  } catch (...) {
    DropList(module, ListOf(module, name));
    throw;
  }
}

void RemoveParametrizations(Module& module, const std::string& name, Flag leave_parametrized) {
  constexpr const char* kRemove = "parametrize::RemoveParametrizations";
  CheckAtRest(module, kRemove);
  const NoGradScope no_grad;
  ParametrizationList& list = GetList(module, name, kRemove);
  const TensorList originals = list.originals();
  Tensor parameter = originals[0];
  if (!leave_parametrized) {
    if (originals.size() != 1) {
      RaiseStatus(InvalidArgument(name, " of ", module.path(), " has ", originals.size(),
                                  " originals, so it can only stay parametrized"),
                  kRemove);
    }
  } else {
    const Tensor value = list.ComputeInEval();
    if (originals.size() == 1 && parameter.shape() == value.shape()) {
      Assign(parameter, value);
    } else {
      parameter = Clone(value);
      parameter.SetRequiresGrad(originals[0].requires_grad());
    }
  }
  Slots::Slot& slot = Slots::Get(module, name, kRemove);
  slot.stand_in = Tensor();
  slot.Keep(parameter);
  for (const Tensor& t : originals) NoteReplaced(t);
  DropList(module, &list);
}

bool IsParametrized(const Module& module) { return ChildOf(module) != nullptr; }

bool IsParametrized(const Module& module, const std::string& name) {
  return ListOf(module, name) != nullptr;
}

Tensor Value(Module& module, const std::string& name) {
  const Slots::Slot& slot = Slots::Get(module, name, "parametrize::Value");
  ParametrizationList* const list = ListOf(module, name);
  return list == nullptr || !slot.is_away() ? slot.tensor : list->Compute();
}

namespace {

constexpr const char* kSet = "parametrize::SetValue";

// The originals from which the list computes this value.
TensorList InverseOf(const ParametrizationList& list, const Tensor& value) {
  TensorList inverse = {value};
  for (size_t i = list.num_children(); i-- > 0;) {
    const Transform& t = list.transform(i);
    if (!t.has_right_inverse()) {
      RaiseStatus(FailedPrecondition(t.type_name(), " has no RightInverse"), kSet);
    }
    inverse = t.RightInverse(inverse[0]);
  }
  return inverse;
}

}  // namespace

void SetValue(Module& module, const std::string& name, const Tensor& value) {
  CheckAtRest(module, kSet);
  const NoGradScope no_grad;
  ParametrizationList& list = GetList(module, name, kSet);
  CheckLike(value, Slots::Get(module, name, kSet).tensor.spec(), "value", kSet);
  const TensorList originals = list.originals();
  std::vector<std::pair<Tensor, Tensor>> buffers;  // and what they have now
  for (const NamedTensor& b : list.named_buffers()) buffers.emplace_back(b.tensor, Clone(b.tensor));
  try {
    const TensorList inverse = InverseOf(list, value.Detach());
    for (size_t i = 0; i < originals.size(); ++i) {
      CheckLike(inverse[i], originals[i].spec(), OriginalName(i, originals.size()), kSet);
    }
    for (size_t i = 0; i < originals.size(); ++i) Assign(originals[i], inverse[i]);
  } catch (...) {
    for (const auto& [buffer, before] : buffers) Assign(buffer, before);
    throw;
  }
}

Held::Held(Module& network) {
  try {
    network.VisitModules([this](Module& m) {
      Parametrizations* const all = ChildOf(m);
      if (all == nullptr) return;
      begun_.reserve(begun_.size() + 1);
      all->Begin();
      begun_.push_back(all);
    });
  } catch (...) {
    for (ComputedParameters* c : begun_) c->End();
    throw;
  }
}

Held::~Held() {
  for (ComputedParameters* c : begun_) c->End();
}

}  // namespace parametrize
}  // namespace firn::nn

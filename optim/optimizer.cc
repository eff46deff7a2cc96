// Optimizer: groups, slots and the loop over them; the parameters of a group are moved by one
// operation, which reads and writes everything once.
//
// State is made at a parameter's first step, outside any capture: a captured step must find it
// ready, or every replay would start from zero again.

#include "firn/optim/optimizer.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/reorder.h"

namespace firn::optim {

ParameterList::ParameterList(std::vector<NamedTensor> named) : named_(std::move(named)) {}
ParameterList::ParameterList(const std::vector<Tensor>& tensors) : numbered_(true) {
  for (const Tensor& t : tensors) named_.push_back({absl::StrCat(named_.size()), t});
}
ParameterList::ParameterList(std::initializer_list<NamedTensor> named) : named_(named) {}
ParameterList::ParameterList(std::initializer_list<Tensor> tensors)
    : ParameterList(std::vector<Tensor>(tensors)) {}

namespace {

void CheckLeaf(const NamedTensor& p) {
  const char* problem = !p.tensor.defined()             ? "is undefined"
                        : !IsFloating(p.tensor.dtype()) ? "is not floating"
                        : !p.tensor.is_leaf()           ? "was computed: only leaves can be moved"
                                                        : nullptr;
  if (problem == nullptr) return;
  RaiseStatus(InvalidArgument("parameter ", p.name, " ", problem), "optimizer");
}

}  // namespace

std::vector<Optimizer::Slot> Optimizer::MakeSlots(const ParameterList& parameters,
                                                  size_t group) const {
  std::set<const TensorImpl*> seen;
  std::set<std::string> names;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (g == group) continue;
    for (const Slot& s : groups_[g].slots) {
      seen.insert(s.param.impl());
      names.insert(s.name);
    }
  }
  const std::set<std::string> of_others = names;
  if (parameters.named().empty()) {
    RaiseStatus(
        InvalidArgument("there are no parameters to move: a module's children and parameters"
                        " are those made by Add and AddParameter"),
        name());
  }
  std::vector<Slot> slots;
  for (const NamedTensor& p : parameters.named()) {
    CheckLeaf(p);
    if (!seen.insert(p.tensor.impl()).second) {
      RaiseStatus(InvalidArgument("parameter ", p.name, " is given twice, in one group or in two"),
                  "optimizer");
    }
    // Steps write into the parameters' memory. Tensors that a capture has seen keep their memory.
    if (ThisThread().capture == nullptr) RaiseIfError(LayOutRowMajor(p.tensor), "optimizer");
    std::string name = p.name;
    if (parameters.numbered()) {
      for (size_t i = names.size(); names.contains(name); ++i) name = absl::StrCat(i);
    } else if (of_others.contains(name)) {
      name = absl::StrCat(group, ".", name);
    }
    if (!names.insert(name).second) {
      RaiseStatus(InvalidArgument("two parameters are named ", p.name,
                                  "; their state could not be told apart"),
                  this->name());
    }
    if (!IsPending(p.tensor)) CheckParameter(name, p.tensor.shape());
    slots.push_back({std::move(name), p.tensor, {}, {}});
  }
  NoteTaken(slots);
  return slots;
}

void Optimizer::NoteTaken(const std::vector<Slot>& slots) const {
  if (own_name_ == nullptr) own_name_ = std::make_shared<const std::string>(name());
  for (const Slot& s : slots) {
    if (NoteOptimized(s.param, own_name_) != nullptr) taken_.push_back(s.param);
  }
}

void Optimizer::ReportTaken() {
  OptimizerName other;
  std::string first;
  size_t shared = 0;
  for (const Tensor& param : std::exchange(taken_, {})) {
    const OptimizerName has_it = OtherOptimizer(param, own_name_);
    if (has_it == nullptr || !Has(param) || shared++ > 0) continue;
    other = has_it;
    first = NameOfKept(param);
  }
  if (shared == 0) return;
  const bool one = shared == 1;
  const std::string which = one ? " is" : absl::StrCat(" and ", shared - 1, " others are");
  std::fprintf(stderr, "firn: %s%s in two optimizers, %s and %s: a Step of either moves %s\n",
               first.c_str(), which.c_str(), other->c_str(), own_name_->c_str(),
               one ? "it" : "them");
}

bool Optimizer::Has(const Tensor& param) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const ParameterGroup& g) {
    return std::any_of(g.slots.begin(), g.slots.end(),
                       [&](const Slot& s) { return s.param.Is(param); });
  });
}

void Optimizer::AddParameters(const ParameterList& parameters, double lr) {
  ParameterGroup group;
  group.slots = MakeSlots(parameters, groups_.size());
  group.lr = FromVector(std::vector<double>{lr}, Shape());
  groups_.push_back(std::move(group));
}

Optimizer::ParameterGroup& Optimizer::GroupAt(size_t group) {
  if (group >= groups_.size()) {
    RaiseStatus(OutOfRange("there is no group ", group, ", only ", groups_.size()), name());
  }
  return groups_[group];
}

void Optimizer::SetParameters(const ParameterList& parameters,
                              const SetParametersOptions& options) {
  ParameterGroup& group = GroupAt(options.group);
  std::vector<Slot> slots = MakeSlots(parameters, options.group);
  for (Slot& s : slots) {
    if (!options.retain_state) continue;
    for (Slot& old : group.slots) {
      if (!old.param.Is(s.param)) continue;
      s.step = std::move(old.step);
      s.state = std::move(old.state);
    }
  }
  for (const Slot& old : group.slots) {
    const bool stays = std::any_of(slots.begin(), slots.end(),
                                   [&](const Slot& s) { return s.param.Is(old.param); });
    if (!stays) ForgetOptimized(old.param, own_name_);
  }
  group.slots = std::move(slots);
}

void Optimizer::RemoveParameters(const std::vector<std::string>& names) {
  std::set<std::string> wanted(names.begin(), names.end());
  std::vector<std::string> all;
  for (const ParameterGroup& g : groups_) {
    for (const Slot& s : g.slots) {
      wanted.erase(s.name);
      all.push_back(s.name);
    }
  }
  if (!wanted.empty()) {
    RaiseStatus(InvalidArgument("there is no parameter ", *wanted.begin(), " to remove",
                                inner::internal::InsteadOf(*wanted.begin(), all)),
                name());
  }
  wanted.insert(names.begin(), names.end());
  for (ParameterGroup& g : groups_) {
    std::erase_if(g.slots, [&](const Slot& s) {
      const bool goes = wanted.contains(s.name);
      if (goes) ForgetOptimized(s.param, own_name_);
      return goes;
    });
  }
}

void Optimizer::ClearParameters() {
  for (ParameterGroup& g : groups_) {
    for (const Slot& s : g.slots) ForgetOptimized(s.param, own_name_);
    g.slots.clear();
  }
  own_name_ = nullptr;  // no other optimizer shares parameters with this one any more
}

void Optimizer::AddHooks(std::function<void()> before, std::function<void()> after) {
  if (before != nullptr) before_.push_back(std::move(before));
  if (after != nullptr) after_.push_back(std::move(after));
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> all;
  for (const ParameterGroup& g : groups_) {
    for (const Slot& s : g.slots) all.push_back(s.param);
  }
  return all;
}

std::string Optimizer::ToString() const {
  std::string text;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const std::string options = inner::ToString(OptionsRef(g));  // "{momentum=0.9}", or nothing
    const size_t count = groups_[g].slots.size();
    absl::StrAppend(&text, g == 0 ? "" : "\n", name(), "{lr=", lr(g),
                    options.size() <= 2 ? "}" : ", " + options.substr(1), ": ", count,
                    count == 1 ? " parameter" : " parameters");
  }
  return text;
}

// --- Learning rate ------------------------------------------------------------------------------

double Optimizer::lr(size_t group) const {
  return const_cast<Optimizer*>(this)->GroupAt(group).lr.Item();
}

void Optimizer::SetLr(size_t group, Real lr) {
  Tensor& present = GroupAt(group).lr;
  CheckOptions(group, lr);
  if (ThisThread().capture != nullptr) {
    RaiseStatus(FailedPrecondition("SetLr would run once, while the step is captured, and never in"
                                   " a frozen one; call it between steps, which follow it"),
                name());
  }
  if (present.device() == Device::Cpu()) {
    present.mutable_host_view<double>()[0] = lr;
  } else {
    // In place: a captured step reads it where it lies.
    Assign(present, FromVector(std::vector<double>{lr}, Shape()).To(present.device()));
  }
}

void Optimizer::SetLr(Real lr) { SetLr(std::vector<double>(groups_.size(), lr)); }

void Optimizer::SetLr(const std::vector<double>& rates) {
  if (rates.size() > groups_.size()) {
    RaiseStatus(InvalidArgument(rates.size(), " rates for ", groups_.size(), " groups"), name());
  }
  for (size_t g = 0; g < rates.size(); ++g) CheckOptions(g, rates[g]);
  for (size_t g = 0; g < rates.size(); ++g) SetLr(g, rates[g]);
}

// --- Steps --------------------------------------------------------------------------------------

void Optimizer::CheckAnyKnown() const {
  const Slot* pending = nullptr;
  for (const ParameterGroup& g : groups_) {
    for (const Slot& s : g.slots) {
      if (!IsPending(s.param)) return;
      if (pending == nullptr) pending = &s;
    }
  }
  if (pending != nullptr) RaiseStatus(PendingError(pending->param), name());
}

Shape Optimizer::StateShape(size_t, size_t, const Shape& param) const { return param; }

void Optimizer::Prepare(size_t group, Slot& slot) const {
  const Tensor& p = slot.param;
  const bool ready =
      slot.step.defined() && slot.step.device() == p.device() &&
      (slot.state.empty() || slot.state[0].dtype() == inner::ComputeDType(p.dtype()));
  if (ready) [[likely]]
    return;
  const NoCaptureScope no_capture;
  if (!slot.step.defined()) {
    CheckParameter(slot.name, p.shape());  // it may have been pending when it was added
    // All or nothing, in case memory runs out on the way.
    absl::InlinedVector<Tensor, 3> state;
    for (size_t i = 0; i < state_names(group).size(); ++i) {
      state.push_back(
          Zeros(StateShape(group, i, p.shape()), inner::ComputeDType(p.dtype()), p.device()));
    }
    slot.step = Zeros(Shape(), DType::kI64, p.device());
    slot.state = std::move(state);
    return;
  }
  // The parameter was moved or converted since.
  absl::InlinedVector<Tensor, 3> state;
  for (const Tensor& s : slot.state)
    state.push_back(Cast(s.To(p.device()), inner::ComputeDType(p.dtype())));
  slot.step = slot.step.To(p.device());
  slot.state = std::move(state);
}

std::vector<Optimizer::Slot*> Optimizer::Ready(size_t group) {
  std::vector<Slot*> slots;
  slots.reserve(groups_[group].slots.size());
  for (Slot& s : groups_[group].slots) {
    if (!s.param.grad().defined()) continue;
    Prepare(group, s);
    slots.push_back(&s);
  }
  return slots;
}

void Optimizer::StepGroup(size_t group, std::vector<Slot*> slots, const Tensor& skip) {
  ParameterGroup& g = groups_[group];
  // One call for each device, of which there is usually one.
  const auto device_of = [](const Slot* s) { return s->param.device(); };
  for (auto begin = slots.begin(); begin != slots.end();) {
    const Device device = device_of(*begin);
    const auto end = std::stable_partition(begin, slots.end(),
                                           [&](const Slot* s) { return device_of(s) == device; });
    if (g.lr.device() != device) {
      const NoCaptureScope no_capture;
      g.lr = g.lr.To(device);
    }
    Update(group, g.lr, skip.defined() ? skip.To(device) : skip,
           absl::MakeConstSpan(&*begin, static_cast<size_t>(end - begin)));
    begin = end;
  }
}

void Optimizer::Step(const Tensor& skip) {
  CheckAnyKnown();
  ReportLeftOut();
  if (!taken_.empty()) [[unlikely]]
    ReportTaken();
  const NoGradScope no_grad;
  for (const auto& hook : before_) hook();
  // All are checked before the first one moves, so that a refusal leaves no half step.
  std::vector<std::vector<Slot*>> ready;
  for (size_t g = 0; g < groups_.size(); ++g) ready.push_back(Ready(g));
  for (size_t g = 0; g < groups_.size(); ++g) StepGroup(g, std::move(ready[g]), skip);
  for (const auto& hook : after_) hook();
}

void Optimizer::ZeroGrad() {
  for (ParameterGroup& g : groups_) {
    for (Slot& s : g.slots) s.param.ZeroGrad();
  }
}

}  // namespace firn::optim

// Module's state dict: giving it out, and taking one back all or nothing.
//
// Loading first compares every name and shape, then converts, and only then writes, so an error
// leaves the module as it was. Writes go into the present memory, whose address captured steps and
// optimizers rely on.

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/status_macros.h"
#include "nn/module.h"
#include "tensor/dispatch.h"
#include "tensor/ops/assign.h"
#include "tensor/ops/cast.h"
#include "tensor/ops/clone.h"
#include "tensor/ops/contiguous.h"

namespace firn::nn {

bool Module::Slot::Fits(const Shape& shape) const {
  if (!IsPending(tensor)) return shape == tensor.shape();
  if (shape.rank() != static_cast<int>(sizes.size())) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t known = sizes[static_cast<size_t>(i)];
    if (known != kDeferred && known != shape[i]) return false;
  }
  return true;
}

std::string Module::Slot::ShapeText() const {
  if (!IsPending(tensor)) return tensor.shape().ToString();
  const auto size = [](std::string* out, int64_t s) {
    absl::StrAppend(out, s == kDeferred ? "?" : absl::StrCat(s));
  };
  return absl::StrCat("[", absl::StrJoin(sizes, ", ", size), "]");
}

StateDict Module::state_dict() const {
  StateDict state;
  std::vector<std::string> pending;
  for (const NamedSlot& s : Slots()) {
    if (s.tentative()) continue;
    if (IsPending(s.slot->tensor)) {
      pending.push_back(s.name);
    } else {
      state.Insert(s.name, s.slot->tensor.Detach());
    }
  }
  if (!pending.empty()) {
    RaiseStatus(FailedPrecondition(absl::StrJoin(pending, ", "),
                                   " have no size yet: it is found by the first forward"),
                absl::StrCat("state_dict of ", path()));
  }
  return state;
}

LoadReport Module::Compare(const StateDict& state, const std::vector<NamedSlot>& slots) const {
  LoadReport report;
  OrderedMap<bool> known;
  for (const NamedSlot& s : slots) {
    known.Insert(s.name, true);
    const Tensor* value = state.Find(s.name);
    if (value == nullptr && s.tentative()) continue;
    if (value == nullptr) {
      report.missing.push_back(s.name);
    } else if (!value->defined() || !s.slot->Fits(value->shape())) {
      report.misshaped.push_back({s.name,
                                  value->defined() ? value->shape().ToString() : "undefined",
                                  s.slot->ShapeText()});
    } else {
      ++report.loaded;
    }
  }
  for (const auto& [name, value] : state) {
    if (!known.Contains(name)) report.unexpected.push_back(name);
  }
  report.Suggest();
  return report;
}

LoadReport Module::LoadStateDict(const StateDict& state, const LoadOptions& options) {
  const std::vector<NamedSlot> slots = Slots();
  const LoadReport report = Compare(state, slots);
  if (options.strict && !report.ok()) {
    throw Error(InvalidArgument(report.ToString()),
                absl::StrCat("load ", options.source, ": ", report.ToString()));
  }
  const NoGradScope no_grad;
  std::vector<std::pair<Slot*, Tensor>> ready;
  for (const NamedSlot& s : slots) {
    const Tensor* value = state.Find(s.name);
    if (value == nullptr || !value->defined() || !s.slot->Fits(value->shape())) continue;
    const Tensor& target = s.slot->tensor;
    ready.emplace_back(s.slot, Cast(value->To(target.device()), target.dtype()));
  }
  for (auto& [slot, value] : ready) {
    if (IsPending(slot->tensor)) {
      Materialize(slot->tensor, Clone(Contiguous(value)));
    } else {
      Assign(slot->tensor, value);
    }
  }
  return report;
}

}  // namespace firn::nn

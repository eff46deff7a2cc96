// Module's state dict: giving it out, and taking one back all or nothing.
//
// Loading first compares every name and shape, then converts, and only then writes, so an error
// leaves the module as it was. Writes go into the present memory, whose address captured steps and
// optimizers rely on.

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/nn/module.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn::nn {

bool Module::TensorSlot::Fits(const Shape& shape) const {
  if (!IsPending(tensor)) return shape == tensor.shape();
  if (shape.rank() != static_cast<int>(sizes.size())) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t known = sizes[static_cast<size_t>(i)];
    if (known != kDeferred && known != shape[i]) return false;
  }
  return true;
}

bool Module::TensorSlot::AgreesWith(const TensorSlot& other) const {
  return std::equal(
      sizes.begin(), sizes.end(), other.sizes.begin(), other.sizes.end(),
      [](int64_t a, int64_t b) { return a == b || a == kDeferred || b == kDeferred; });
}

std::string Module::TensorSlot::ShapeText() const {
  if (!IsPending(tensor)) return tensor.shape().ToString();
  const auto size = [](std::string* out, int64_t s) {
    absl::StrAppend(out, s == kDeferred ? "?" : absl::StrCat(s));
  };
  return absl::StrCat("[", absl::StrJoin(sizes, ", ", size), "]");
}

StateDict Module::state_dict() const {
  StateDict state;
  std::vector<std::string> pending;
  for (const NamedTensorSlot& s : Slots()) {
    if (IsPending(s.slot->tensor)) {
      pending.push_back(s.name);
    } else {
      state.Insert(s.name, s.slot->tensor.Detach());
    }
  }
  if (!pending.empty()) {
    RaiseStatus(
        FailedPrecondition(absl::StrJoin(pending, ", "), pending.size() == 1 ? " has" : " have",
                           " no size yet: it is found by the first forward"),
        absl::StrCat("state_dict of ", path()));
  }
  return state;
}

LoadReport Module::Compare(const StateDict& state, const std::vector<NamedTensorSlot>& slots,
                           std::vector<std::pair<TensorSlot*, const Tensor*>>* fitting) const {
  LoadReport report;
  OrderedMap<bool> known;
  for (const NamedTensorSlot& s : slots) known.Insert(s.name, true);
  std::map<const TensorImpl*, Shape> given;  // to pending tensors, which may have several names
  for (const NamedTensorSlot& s : slots) {
    const TensorSlot& slot = *s.slot;
    const Tensor* value = state.Find(s.name);
    if (value == nullptr) {
      report.missing.push_back(s.name);
      continue;
    }
    std::string problem;
    if (!value->defined() || !slot.Fits(value->shape())) {
      problem = slot.ShapeText();
    } else if (IsPending(slot.tensor)) {
      const Shape& first = given.try_emplace(slot.tensor.impl(), value->shape()).first->second;
      if (value->shape() != first) problem = first.ToString() + " by another name";
    }
    if (problem.empty()) {
      fitting->emplace_back(s.slot, value);
      if (value->dtype() == slot.tensor.dtype()) continue;
      report.converted.push_back(absl::StrCat(s.name, ": ", DTypeName(value->dtype()), " to ",
                                              DTypeName(slot.tensor.dtype())));
    } else {
      report.misshaped.push_back(
          {s.name, value->defined() ? value->shape().ToString() : "undefined", problem});
    }
  }
  report.loaded = static_cast<int64_t>(fitting->size());
  for (const auto& [name, value] : state) {
    if (!known.Contains(name)) report.unexpected.push_back(name);
  }
  report.Suggest();
  return report;
}

namespace {

// The dict by the names and in the directions of the module.
StateDict Prepared(const StateDict& given, const LoadOptions& options) {
  const std::string& prefix = options.strip_prefix;
  if (prefix.empty() && !options.transpose) return given;
  StateDict state;
  for (const auto& [name, value] : given) {
    const bool has_it = !prefix.empty() && name.starts_with(prefix);
    const std::string own = has_it ? name.substr(prefix.size()) : name;
    const bool turn =
        options.transpose && value.defined() && value.rank() == 2 && options.transpose(own);
    state.Insert(own, turn ? value.Detach().Transpose(0, 1) : value);
  }
  return state;
}

}  // namespace

LoadReport Module::LoadStateDict(const StateDict& given, const LoadOptions& options) {
  const std::vector<NamedTensorSlot> slots = Slots();
  std::vector<std::pair<TensorSlot*, const Tensor*>> fitting;
  const StateDict state = Prepared(given, options);
  const LoadReport report = Compare(state, slots, &fitting);
  const bool names_fit = report.missing.empty() && report.unexpected.empty();
  if ((options.strict && !names_fit) || (!options.skip_mismatched && !report.misshaped.empty())) {
    throw Error(InvalidArgument(report.ToString()),
                absl::StrCat("load ", options.source, ": ", report.ToString()));
  }
  const NoGradScope no_grad;
  std::vector<std::pair<TensorSlot*, Tensor>> ready;
  for (const auto& [slot, value] : fitting) {
    const Tensor& target = slot->tensor;
    const Tensor converted = Cast(value->To(target.device()), target.dtype());
    ready.emplace_back(slot, IsPending(target) ? Clone(Contiguous(converted)) : converted);
  }
  for (const auto& [slot, value] : ready) {
    if (IsPending(slot->tensor)) {
      Materialize(slot->tensor, value);
    } else {
      Assign(slot->tensor, value);
    }
  }
  return report;
}

}  // namespace firn::nn

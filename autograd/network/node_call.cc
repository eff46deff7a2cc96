#include "firn/autograd/network/node_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/autograd/network/binder.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn::autograd {

BoundValue ListOf(std::vector<BoundValue> items) {
  BoundValue list;
  list.kind = BoundValue::Kind::kList;
  list.items = std::move(items);
  return list;
}

bool NodeCall::Wants(size_t output) const {
  return output < num_outputs() && node_->outputs[output] != kNoValue;
}

bool NodeCall::Has(size_t input) const {
  return input < num_inputs() && node_->inputs[input] != kNoValue &&
         Input(input).kind != BoundValue::Kind::kAbsent;
}

const BoundValue& NodeCall::Input(size_t input) const {
  static const auto* const absent = new BoundValue;
  if (input >= num_inputs() || node_->inputs[input] == kNoValue) return *absent;
  return binder_->Get(node_->inputs[input]);
}

const TensorSpec& NodeCall::Spec(size_t input) const {
  const BoundValue& value = Input(input);
  if (!value.is_tensor()) {
    RefuseNode("input ", input, " is expected to be a tensor, it is ",
               value.is_list() ? "a list" : "absent");
  }
  return value.spec;
}

bool NodeCall::IsKnown(size_t input) const { return Input(input).known; }

Tensor NodeCall::Known(size_t input, std::string_view what) const {
  Spec(input);
  const BoundValue& value = Input(input);
  if (!value.varies()) return Known(value, what);
  return Known(value, absl::StrCat("input ", input, " (", std::string(what), ")"));
}

Tensor NodeCall::Known(const BoundValue& value, std::string_view what) const {
  if (!value.is_tensor()) RefuseNode(what, " is expected to be a tensor");
  binder_->LookAt(value, what);
  const NoGradScope no_grad;
  return Contiguous(ToDevice(value.tensor, Device::Cpu()).Detach());
}

bool NodeCall::MayLook() const { return binder_->may_look(); }

std::vector<int64_t> NodeCall::KnownInts(size_t input, std::string_view what) const {
  if (IsFloating(DTypeAt(input))) {
    RefuseNode("input ", input, " (", what, ") is expected to hold integers, it is ",
               Spec(input).ToString());
  }
  return Known(input, what).ToVector<int64_t>();
}

int64_t NodeCall::KnownInt(size_t input, std::string_view what) const {
  const std::vector<int64_t> all = KnownInts(input, what);
  if (all.size() != 1) {
    RefuseNode("input ", input, " (", what, ") is expected to have one element, it is ",
               Spec(input).ToString());
  }
  return all[0];
}

double NodeCall::KnownNumber(size_t input, std::string_view what) const {
  const Tensor known = Known(input, what);
  if (known.num_elements() != 1) {
    RefuseNode("input ", input, " (", what, ") is expected to have one element, it is ",
               Spec(input).ToString());
  }
  return known.Item();
}

std::vector<BoundValue> NodeCall::Run(const Step& step, absl::Span<const BoundValue> in) {
  return binder_->Run(*node_, step, in);
}

BoundValue NodeCall::Constant(Tensor tensor) {
  BoundValue value;
  value.kind = BoundValue::Kind::kTensor;
  value.spec = tensor.spec();
  value.tensor = std::move(tensor);
  value.known = true;
  return value;
}

void NodeCall::Return(std::vector<BoundValue> outputs) {
  for (size_t i = 0; i < num_outputs(); ++i) {
    if (!Wants(i)) continue;
    if (i >= outputs.size()) {
      RaiseStatus(Unimplemented("output ", i, " is not computed"), "network");
    }
    binder_->Set(node_->outputs[i], std::move(outputs[i]));
  }
  returned_ = true;
}

void NodeCall::Set(int value, BoundValue to) { binder_->Set(value, std::move(to)); }

const BoundValue& NodeCall::Get(int value) const { return binder_->Get(value); }

}  // namespace firn::autograd

// The node behind Call<F>: edges to the tensor arguments, and F's own backward.

#include "firn/autograd/function.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "firn/autograd/tape/node.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn {

using autograd::Edge;
using autograd::RaiseInBackward;
using autograd::SavedTensor;

void FunctionContext::Save(std::vector<Tensor> tensors) { to_save_ = std::move(tensors); }

const Tensor& FunctionContext::saved(size_t i) const {
  if (i >= saved_.size()) {
    RaiseStatus(OutOfRange("Backward asks for saved(", i, "), and Forward saved ", saved_.size(),
                           saved_.size() == 1 ? " tensor" : " tensors"),
                "function");
  }
  return saved_[i];
}

const std::any& FunctionContext::Find(const std::string& name) const {
  const std::any* value = values_.Find(name);
  if (value == nullptr) RaiseStatus(OutOfRange("nothing was put as ", name), "function");
  return *value;
}

void FunctionContext::RaiseWrongType(const std::string& name) const {
  RaiseStatus(InvalidArgument(name, " was put with another type"), "function");
}

// "ClampSte" of "(anonymous namespace)::ClampSte".
static std::string ShortName(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> full(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr), std::free);
  const std::string name = full == nullptr ? type.name() : full.get();
  const size_t at = name.rfind("::");
  return at == std::string::npos ? name : name.substr(at + 2);
}

class FunctionNode final : public autograd::Node {
 public:
  FunctionNode(const std::type_info& type, internal::FunctionBackward backward, FunctionContext ctx,
               const std::vector<Tensor>& inputs)
      : Node(inputs.size()), name_(ShortName(type)), backward_(backward), context_(std::move(ctx)) {
    for (size_t i = 0; i < inputs.size(); ++i) SetEdge(i, inputs[i]);
  }

  // After the edges and outputs are there.
  void TakeSaved(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
    for (Tensor& t : context_.to_save_) saved_.push_back(Keep(t, inputs, outputs));
    context_.to_save_.clear();
  }

  std::string_view name() const override { return name_; }
  void ReleaseSaved() override {
    released_ = true;
    saved_.clear();
  }

  void Backward(absl::Span<const Tensor> grad_outputs, absl::Span<const bool> wanted,
                absl::Span<Tensor> grad_inputs) override;

 private:
  struct Kept {
    SavedTensor tensor;
    bool intermediate = false;  // saved, but neither an argument nor a result
  };
  static Kept Keep(const Tensor& t, const std::vector<Tensor>& inputs,
                   const std::vector<Tensor>& outputs) {
    for (const Tensor& x : inputs) {
      if (t.Is(x)) return {SavedTensor::Input(t)};
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (t.Is(outputs[i])) return {SavedTensor::Output(t, static_cast<uint32_t>(i))};
    }
    return {SavedTensor::Input(t), t.defined() && IsFloating(t.dtype())};
  }
  void Unpack();
  void CheckGradients(const std::vector<Tensor>& grads);

  std::string name_;
  internal::FunctionBackward backward_;
  FunctionContext context_;
  std::vector<Kept> saved_;
  bool released_ = false;
};

void FunctionNode::Unpack() {
  if (released_) {
    RaiseInBackward(*this, FailedPrecondition(
                               "was visited by an earlier backward, which freed what it had saved; "
                               "pass retain_graph to that one"));
  }
  context_.saved_.clear();
  for (size_t i = 0; i < saved_.size(); ++i) {
    if (saved_[i].intermediate && GradEnabled()) {
      RaiseInBackward(*this, FailedPrecondition("saved tensor ", i,
                                                ", which is neither an argument nor a result, so "
                                                "its gradient cannot be differentiated again"));
    }
    context_.saved_.push_back(saved_[i].tensor.Unpack(*this));
  }
}

void FunctionNode::CheckGradients(const std::vector<Tensor>& grads) {
  if (grads.size() != edges().size()) {
    RaiseInBackward(*this, InvalidArgument("returned ", grads.size(), " gradients for ",
                                           edges().size(), " tensor arguments"));
  }
  for (size_t i = 0; i < grads.size(); ++i) {
    const Edge& e = edges()[i];
    if (!grads[i].defined() || !e.wanted()) continue;
    if (grads[i].shape() != e.spec().shape || grads[i].dtype() != e.spec().dtype) {
      RaiseInBackward(*this, InvalidArgument("returned ", grads[i].spec().ToString(),
                                             " as the gradient of tensor argument ", i, ", ",
                                             e.spec().ToString()));
    }
  }
}

void FunctionNode::Backward(absl::Span<const Tensor> grad_outputs, absl::Span<const bool> wanted,
                            absl::Span<Tensor> grad_inputs) {
  Unpack();
  context_.needs_.clear();
  for (size_t i = 0; i < edges().size(); ++i) {
    context_.needs_.push_back(wanted.empty() ? edges()[i].wanted() : wanted[i]);
  }
  std::vector<Tensor> grads;
  for (size_t i = 0; i < grad_outputs.size(); ++i) {
    const TensorSpec& spec = output_specs()[i];
    grads.push_back(grad_outputs[i].defined() ? grad_outputs[i]
                                              : Zeros(spec.shape, spec.dtype, spec.device));
  }
  std::vector<Tensor> results = backward_(context_, std::move(grads));
  context_.saved_.clear();
  CheckGradients(results);
  for (size_t i = 0; i < results.size(); ++i) grad_inputs[i] = std::move(results[i]);
}

namespace inner::internal {

void RecordFunction(const std::type_info& type, FunctionBackward backward, FunctionContext ctx,
                    const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  bool any = false;
  for (const Tensor& t : inputs) any |= t.requires_grad();
  if (!GradEnabled() || !any) return;
  // A result that is an argument, or a tensor with a history of its own, becomes another handle on
  // the same elements, or recording would change that history.
  std::vector<Tensor> own;
  for (const Tensor& y : outputs) {
    if (!y.defined()) {
      RaiseStatus(InvalidArgument("Forward returned an undefined tensor"), ShortName(type));
    }
    own.push_back(y.Detach());
  }
  const auto node = MakeIntrusive<FunctionNode>(type, backward, std::move(ctx), inputs);
  node->Attach(absl::MakeSpan(own));
  node->TakeSaved(inputs, outputs);
  outputs = std::move(own);
}

}  // namespace inner::internal
}  // namespace firn

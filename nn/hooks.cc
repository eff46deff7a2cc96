// Backward hooks see gradients where they pass: the first input goes through an identity operation,
// whose node receives the sum of the gradients of all its uses inside the layer and nothing from
// outside; the output's node receives the gradient of the output first. State shared by the two
// carries grad_output from the one to the other.

#include "firn/nn/hooks.h"

#include <utility>

#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn::nn {
namespace {

bool IsComputed(const Tensor& t) { return t.requires_grad() && !t.is_leaf(); }

}  // namespace

template <class Fn>
struct HookList<Fn>::Entry {
  Fn fn;
  bool active;
};

template <class Fn>
HookHandle HookList<Fn>::Add(Fn fn) {
  std::erase_if(entries_, [](const auto& e) { return !e->active; });
  entries_.push_back(std::make_shared<Entry>(Entry{std::move(fn), true}));
  return HookHandle(std::shared_ptr<bool>(entries_.back(), &entries_.back()->active));
}

template <class Fn>
bool HookList<Fn>::empty() const {
  for (const auto& e : entries_) {
    if (e->active) return false;
  }
  return true;
}

template <class Fn>
template <class Visitor>
void HookList<Fn>::ForEach(Visitor visit) const {
  const std::vector<std::shared_ptr<Entry>> present = entries_;
  for (const auto& e : present) {
    if (e->active) visit(e->fn);
  }
}

template class HookList<ForwardPreHook>;
template class HookList<ForwardHook>;
template class HookList<BackwardHook>;

Tensor Hooks::Run(Module& layer, absl::Span<Tensor> inputs,
                  const std::function<Tensor()>& forward) const {
  const ComputedScope values(computed);  // the other hooks see the values too
  pre.ForEach([&](const ForwardPreHook& hook) { hook(layer, inputs); });
  const bool watch = !backward.empty() && GradEnabled();
  const bool watch_input = watch && inputs[0].requires_grad();
  if (watch_input) inputs[0] = Identity(inputs[0]);
  Tensor output = forward();
  post.ForEach([&](const ForwardHook& hook) { hook(layer, inputs, output); });
  if (!watch || !IsComputed(output)) return output;

  // The present hooks: those that are registered later are not for this call.
  const auto hooks = std::make_shared<HookList<BackwardHook>>(backward);
  const auto grad_output = std::make_shared<Tensor>();
  // An output that is the input itself needs a node of its own.
  if (watch_input && output.Is(inputs[0])) output = Identity(output);
  RegisterHook(output, [=, &layer](const Tensor& grad) {
    if (watch_input) {
      *grad_output = grad;
    } else {
      hooks->ForEach([&](const BackwardHook& hook) { hook(layer, Tensor(), grad); });
    }
    return Tensor();
  });
  if (!watch_input) return output;
  RegisterHook(inputs[0], [=, &layer](const Tensor& grad) {
    Tensor grad_input = grad;
    hooks->ForEach([&](const BackwardHook& hook) {
      Tensor replaced = hook(layer, grad_input, *grad_output);
      if (replaced.defined()) grad_input = std::move(replaced);
    });
    *grad_output = Tensor();
    return grad_input;
  });
  return output;
}

}  // namespace firn::nn

// Cloning: the classes' own constructors build the tree again, then state is copied pair by pair.
// One map from tensors of the original to tensors of the copy keeps ties.

#include "firn/nn/clone.h"

#include <map>
#include <typeinfo>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/rng.h"

namespace firn::nn {
namespace {

// The copy of `t`, made once.
Tensor CopyOf(const Tensor& t, std::map<TensorImpl*, Tensor>* copies) {
  if (!t.defined()) return {};
  Tensor& copy = (*copies)[t.impl()];
  if (copy.defined()) return copy;
  copy = IsPending(t) ? MakePending(t.dtype(), t.device()) : firn::Clone(t.Detach());
  copy.SetRequiresGrad(t.requires_grad());
  return copy;
}

[[noreturn]] void RaiseDifferent(const Module& from, const std::string& what) {
  RaiseStatus(FailedPrecondition("its constructor made another network than this one: ", what,
                                 "; options() must say all that the constructor needs"),
              "clone of " + from.path());
}

}  // namespace

void ModuleCloner::RaiseNoWay(const Module& m) {
  RaiseStatus(FailedPrecondition("there is no way to make another ", m.type_name(),
                                 ": give the class a default constructor, or Options and "
                                 "`const Options& options() const`"),
              "clone of " + m.path());
}

RandomPositionScope::RandomPositionScope() : saved_(DefaultGenerator().position()) {}

RandomPositionScope::~RandomPositionScope() {
  const NoCaptureScope no_capture;  // a capture might refuse this
  DefaultGenerator().SetPosition(saved_);
}

void ModuleCloner::Copy(const Module& from, Module& to) {
  const NoGradScope no_grad;
  std::map<TensorImpl*, Tensor> copies;
  std::vector<std::pair<const Module*, Module*>> open = {{&from, &to}};
  to.name_ = from.name();
  while (!open.empty()) {
    const auto [a, b] = open.back();
    open.pop_back();
    if (typeid(*a) != typeid(*b)) RaiseDifferent(from, a->path() + " is of another class");
    b->SetTraining(a->training_);
    for (const auto& child : b->children_) {
      if (a->FindChild(child->name_) == nullptr) {
        RaiseDifferent(from, child->path() + " is new");
      }
    }
    for (const auto& child : a->children_) {
      Module* twin = b->FindChild(child->name_);
      if (twin == nullptr) {
        twin = &b->AddMade(child->name_,
                           [&child](const Module*) { return child->factory_(child.get()); });
        twin->factory_ = child->factory_;
      }
      open.emplace_back(child.get(), twin);
      // The child that computes a's parameters has a twin that computes b's.
      const ComputedParameters* computed = a->hooks_ ? a->hooks_->computed : nullptr;
      if (computed != nullptr && dynamic_cast<ComputedParameters*>(child.get()) == computed) {
        b->hooks().computed = dynamic_cast<ComputedParameters*>(twin);
      }
    }
    for (const auto& s : a->slots_) {
      Module::TensorSlot* twin = nullptr;
      for (const auto& t : b->slots_) twin = t->name == s->name ? t.get() : twin;
      if (twin == nullptr) twin = &b->AddSlot(s->name, {}, s->is_parameter);
      if (s->IsComputed()) {
        twin->MakeComputed(s->stand_in.spec());
        continue;
      }
      twin->sizes = s->sizes;
      twin->stand_in = Tensor();
      twin->Keep(CopyOf(s->tensor, &copies));
    }
  }
  to.ForgetPaths();
}

}  // namespace firn::nn

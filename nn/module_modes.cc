// Training or not, trainable or not. A captured graph cannot see a mode that is turned later, and
// may outlive the module: so from the first capture that asks for it, the mode is also kept in
// memory that graphs share.

#include <memory>
#include <mutex>
#include <string>

#include "firn/device/fork.h"
#include "firn/device/inner.h"
#include "firn/nn/module.h"
#include "firn/tensor/dispatch.h"

namespace firn::nn {

void Module::Train(Flag on) {
  VisitModules([on](Module& m) { m.SetTraining(on); });
}

void Module::SetTraining(bool on) {
  CaptureRecorder* const capture = ThisThread().capture;
  if (capture != nullptr || shared_training_ != nullptr) [[unlikely]] {
    if (shared_training_ == nullptr) shared_training_ = std::make_shared<bool>(on);
    if (capture != nullptr) capture->BeforeSetSwitch(shared_training_);
    __atomic_store_n(shared_training_.get(), on, __ATOMIC_RELAXED);
  }
  training_ = on;
}

namespace {

// Several threads may capture one network at once.
std::mutex& SharedMutex() {
  static constinit std::mutex mutex;
  static const bool kept = (KeepOverFork(mutex, ForkOrder::kTables), true);
  static_cast<void>(kept);
  return mutex;
}

}  // namespace

void Module::NoteAsked() const {
  const std::string name = "training() of " + path();  // takes a lock of its own
  CaptureRecorder::SwitchState state;
  {
    const std::lock_guard lock(SharedMutex());
    if (shared_training_ == nullptr) {
      shared_training_ = std::make_shared<bool>(training_);
    }
    state = shared_training_;
  }
  ThisThread().capture->BeforeGetSwitch(state, name, true);
}

void Module::NoteChildrenAsked() const {
  const std::string name = path() + " (" + type_name() + ") got another child";
  CaptureRecorder::SwitchState state;
  {
    const std::lock_guard lock(SharedMutex());
    if (shared_grown_ == nullptr) shared_grown_ = std::make_shared<bool>(false);
    state = shared_grown_;
  }
  ThisThread().capture->BeforeGetSwitch(state, name, false);
}

// Graphs that asked before are told; a later capture sees all children.
void Module::NoteChild() {
  if (shared_grown_ == nullptr) [[likely]]
    return;
  __atomic_store_n(shared_grown_.get(), true, __ATOMIC_RELAXED);
  shared_grown_ = nullptr;
}

void Module::SetTrainable(Flag trainable) {
  for (Tensor& p : parameters()) p.SetRequiresGrad(trainable);
}

}  // namespace firn::nn

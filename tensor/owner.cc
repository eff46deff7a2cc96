// The owners of a tensor stand in its GradMeta; a flag in the tensor itself says that there are
// any, so that assignments to other handles cost one look.

#include "firn/tensor/owner.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/fork.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/grad_meta.h"

namespace firn {

void inner::Own(const Tensor& t, const TensorOwner* owner) {
  EnsureGradMeta(t).owners.push_back(owner);
  t.impl()->owned = true;
}

void inner::Disown(const Tensor& t, const TensorOwner* owner) {
  auto& owners = EnsureGradMeta(t).owners;
  owners.erase(std::remove(owners.begin(), owners.end(), owner), owners.end());
  t.impl()->owned = !owners.empty();
}

std::string inner::NameOfKept(const Tensor& t) {
  if (t.impl()->owned) return t.impl()->grad_meta->owners.front()->OwnedName();
  return absl::StrCat("a leaf ", t.spec().ToString());
}

// Several threads may capture one network at once.
std::shared_ptr<const bool> inner::ReplacedFlag(const Tensor& t) {
  static constinit std::mutex mutex;
  static const bool kept = (KeepOverFork(mutex, ForkOrder::kTables), true);
  static_cast<void>(kept);
  const std::lock_guard lock(mutex);
  std::shared_ptr<bool>& flag = EnsureGradMeta(t).replaced;
  if (flag == nullptr) flag = std::make_shared<bool>(false);
  return flag;
}

namespace {
constinit std::atomic<uint64_t> replacements = 0;
}  // namespace

uint64_t inner::Replacements() noexcept { return replacements.load(std::memory_order_acquire); }

void inner::NoteReplaced(const Tensor& t) {
  GradMeta* const meta = t.impl()->grad_meta.get();
  if (meta == nullptr || meta->replaced == nullptr) return;
  __atomic_store_n(meta->replaced.get(), true, __ATOMIC_RELAXED);
  meta->replaced = nullptr;
  replacements.fetch_add(1, std::memory_order_release);
}

namespace {

struct Noted {
  std::string name;
  std::shared_ptr<const bool> claimed;  // not the tensor, which may be large and gone by then
};

std::vector<Noted>& LeftOut() {
  static thread_local std::vector<Noted> noted;
  return noted;
}

constexpr size_t kMostNoted = 1000;  // of programs that never step an optimizer

}  // namespace

void inner::NoteGradientOfOwned(const Tensor& leaf) {
  GradMeta& meta = EnsureGradMeta(leaf);
  if (meta.optimized || meta.claimed != nullptr || LeftOut().size() == kMostNoted) return;
  meta.claimed = std::make_shared<bool>(false);
  LeftOut().push_back({NameOfKept(leaf), meta.claimed});
}

inner::OptimizerName inner::NoteOptimized(const Tensor& parameter, const OptimizerName& optimizer) {
  GradMeta& meta = EnsureGradMeta(parameter);
  meta.optimized = true;
  if (meta.claimed != nullptr) *meta.claimed = true;
  ForgetOptimized(parameter, optimizer);
  if (meta.optimizers == nullptr) {
    meta.optimizers = std::make_shared<std::vector<std::weak_ptr<const std::string>>>();
  }
  OptimizerName other = OtherOptimizer(parameter, optimizer);
  meta.optimizers->push_back(optimizer);
  return other;
}

inner::OptimizerName inner::OtherOptimizer(const Tensor& parameter,
                                           const OptimizerName& optimizer) {
  const GradMeta& meta = EnsureGradMeta(parameter);
  if (meta.optimizers == nullptr) return nullptr;
  for (const std::weak_ptr<const std::string>& name : *meta.optimizers) {
    OptimizerName other = name.lock();
    if (other != nullptr && other != optimizer) return other;
  }
  return nullptr;
}

void inner::ForgetOptimized(const Tensor& parameter, const OptimizerName& optimizer) {
  GradMeta& meta = EnsureGradMeta(parameter);
  if (meta.optimizers == nullptr) return;
  // Those that are gone leave as well.
  std::erase_if(*meta.optimizers, [&](const std::weak_ptr<const std::string>& name) {
    const OptimizerName there = name.lock();
    return there == nullptr || there == optimizer;
  });
}

void inner::ReportLeftOut() {
  if (LeftOut().empty()) [[likely]]
    return;
  std::vector<std::string> names;
  for (const Noted& noted : std::exchange(LeftOut(), {})) {
    if (!*noted.claimed) names.push_back(noted.name);
  }
  if (names.empty()) return;
  std::fprintf(stderr,
               "firn: no optimizer has %s%s, which got gradients. A module that is a member of its"
               " own is not part of a network: make it with Add. One that came after the"
               " optimizer, such as a new head, joins it by AddGroup. What is not to be trained is"
               " faster after SetTrainable(false)\n",
               names.front().c_str(),
               names.size() == 1 ? "" : absl::StrCat(" and ", names.size() - 1, " others").c_str());
}

bool Tensor::IsOwnersHandle() const noexcept {
  const auto& owners = impl_->grad_meta->owners;
  return std::any_of(owners.begin(), owners.end(),
                     [this](const TensorOwner* owner) { return owner->handle() == this; });
}

void Tensor::CheckRebinding(const Tensor& other) const {
  if (Is(other) || !IsOwnersHandle()) return;
  RaiseStatus(FailedPrecondition(NameOfKept(*this),
                                 " keeps its tensor for life, because optimizers and graphs hold"
                                 " it too; inside NoGradScope, CopyFrom writes its elements"),
              "operator=");
}

}  // namespace firn

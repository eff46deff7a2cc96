// A table beside the leaves says which of them have a listener: few programs have listeners, and a
// field for one would make every tensor larger.

#include "firn/autograd/gradient_listener.h"

#include <atomic>
#include <cstddef>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

struct Table {
  absl::Mutex mutex;
  absl::flat_hash_map<const TensorImpl*, std::shared_ptr<GradientListener>> of
      ABSL_GUARDED_BY(mutex);
  std::atomic<size_t> size = 0;  // read without the mutex, for programs without listeners
};

Table& TheTable() {
  static auto* const table = new Table;  // never destroyed: leaves outlive main
  return *table;
}

absl::Status CheckLeaf(const Tensor& leaf, size_t i) {
  FIRN_RETURN_IF(!leaf.defined(), InvalidArgument("leaf ", i, " is an undefined tensor"));
  FIRN_RETURN_IF(!leaf.requires_grad(),
                 FailedPrecondition("leaf ", i, " does not require a gradient"));
  FIRN_RETURN_IF(leaf.impl()->grad_node,
                 FailedPrecondition("tensor ", i, " was computed: only leaves are listened to"));
  return absl::OkStatus();
}

void Add(const std::vector<Tensor>& leaves, const std::shared_ptr<GradientListener>& listener) {
  constexpr const char* kFunction = "listen_to_gradients";
  if (listener == nullptr) RaiseStatus(InvalidArgument("the listener is null"), kFunction);
  for (size_t i = 0; i < leaves.size(); ++i) RaiseIfError(CheckLeaf(leaves[i], i), kFunction);
  Table& table = TheTable();
  const absl::MutexLock lock(&table.mutex);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (table.of.try_emplace(leaves[i].impl(), listener).second) continue;
    for (size_t made = 0; made < i; ++made) table.of.erase(leaves[made].impl());
    RaiseStatus(FailedPrecondition("leaf ", i, " is listened to already"), kFunction);
  }
  table.size = table.of.size();
}

void Remove(const std::vector<Tensor>& leaves) {
  Table& table = TheTable();
  const absl::MutexLock lock(&table.mutex);
  for (const Tensor& leaf : leaves) table.of.erase(leaf.impl());
  table.size = table.of.size();
}

}  // namespace

namespace inner {

bool AnyGradientListeners() { return TheTable().size.load(std::memory_order_relaxed) != 0; }

std::shared_ptr<GradientListener> GradientListenerOf(const Tensor& leaf) {
  Table& table = TheTable();
  const absl::MutexLock lock(&table.mutex);
  const auto found = table.of.find(leaf.impl());
  return found == table.of.end() ? nullptr : found->second;
}

}  // namespace inner

GradientListening::GradientListening(std::vector<Tensor> leaves,
                                     std::shared_ptr<GradientListener> listener)
    : leaves_(std::move(leaves)) {
  Add(leaves_, listener);
}
GradientListening::~GradientListening() { Remove(leaves_); }
GradientListening::GradientListening(GradientListening&& other) noexcept
    : leaves_(std::exchange(other.leaves_, {})) {}
GradientListening& GradientListening::operator=(GradientListening&& other) noexcept {
  std::swap(leaves_, other.leaves_);
  return *this;
}

GradientListening ListenToGradients(std::vector<Tensor> leaves,
                                    std::shared_ptr<GradientListener> listener) {
  return GradientListening(std::move(leaves), std::move(listener));
}

}  // namespace firn

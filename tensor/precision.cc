// What kernels may trade precision for.

#include "tensor/precision.h"

#include <atomic>

namespace firn {
namespace {

std::atomic<bool> winograd_allowed = true;

}  // namespace

void SetWinogradAllowed(bool allowed) {
  winograd_allowed.store(allowed, std::memory_order_relaxed);
}

bool WinogradAllowed() { return winograd_allowed.load(std::memory_order_relaxed); }

}  // namespace firn

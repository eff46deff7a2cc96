// How much precision kernels may trade for speed: the process's settings, which a graph's own
// settings override on its threads.

#include "firn/tensor/precision.h"

#include <atomic>
#include <utility>

namespace firn {
namespace {

std::atomic<bool> winograd_allowed = true;
std::atomic<F32Math> matmul_math = F32Math::kStrict;
std::atomic<F32Math> conv_math = F32Math::kTf32;

thread_local constinit const inner::internal::Precision* own = nullptr;  // of the innermost scope

}  // namespace

void SetWinogradAllowed(inner::Flag allowed) {
  winograd_allowed.store(allowed, std::memory_order_relaxed);
}

bool WinogradAllowed() {
  return own != nullptr ? own->winograd : winograd_allowed.load(std::memory_order_relaxed);
}

void SetMatmulMath(F32Math math) { matmul_math.store(math, std::memory_order_relaxed); }
F32Math MatmulMath() {
  return own != nullptr ? own->matmul : matmul_math.load(std::memory_order_relaxed);
}

void SetConvMath(F32Math math) { conv_math.store(math, std::memory_order_relaxed); }
F32Math ConvMath() {
  return own != nullptr ? own->conv : conv_math.load(std::memory_order_relaxed);
}

inner::internal::PrecisionScope::PrecisionScope(const Precision& precision)
    : outer_(std::exchange(own, &precision)) {}
inner::internal::PrecisionScope::~PrecisionScope() { own = outer_; }

}  // namespace firn

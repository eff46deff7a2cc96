// What kernels may trade precision for.

#include "tensor/precision.h"

#include <atomic>

namespace firn {
namespace {

std::atomic<bool> winograd_allowed = true;
std::atomic<F32Math> matmul_math = F32Math::kStrict;
std::atomic<F32Math> conv_math = F32Math::kTf32;

}  // namespace

void SetWinogradAllowed(bool allowed) {
  winograd_allowed.store(allowed, std::memory_order_relaxed);
}

bool WinogradAllowed() { return winograd_allowed.load(std::memory_order_relaxed); }

void SetMatmulMath(F32Math math) { matmul_math.store(math, std::memory_order_relaxed); }
F32Math MatmulMath() { return matmul_math.load(std::memory_order_relaxed); }

void SetConvMath(F32Math math) { conv_math.store(math, std::memory_order_relaxed); }
F32Math ConvMath() { return conv_math.load(std::memory_order_relaxed); }

}  // namespace firn

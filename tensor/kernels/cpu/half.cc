#include "firn/tensor/kernels/cpu/half.h"

namespace firn::cpu {
namespace {

// Calls f(first element of a run in the tensor, as a float, its length), only once if there are no
// gaps.
template <class F>
FIRN_ALWAYS_INLINE void ForEachRun(const Runs& r, const F& f) {
  const bool gaps = r.length != r.stride || r.length != r.step;
  if (!gaps) return f(0, 0, r.runs * r.length);
  for (int64_t q = 0; q < r.runs; ++q) f(q * r.stride, q * r.step, r.length);
}

template <class T>
void RunsToFloats(const T* from, const Runs& r, float* to) {
  ForEachRun(
      r, [&](int64_t at, int64_t i, int64_t n)
             __attribute__((always_inline)) { FloatsOfBlock(from + at, n, to + i); });
}
template <class T>
void FloatsToRuns(const float* from, const Runs& r, T* to) {
  ForEachRun(
      r, [&](int64_t at, int64_t i, int64_t n)
             __attribute__((always_inline)) { BlockOfFloats(from + i, n, to + at); });
}

}  // namespace

void ToFloats(const Half* from, int64_t n, float* to) { FloatsOfBlock(from, n, to); }
void ToFloats(const BFloat16* from, int64_t n, float* to) { FloatsOfBlock(from, n, to); }

void FromFloats(const float* from, int64_t n, Half* to) { BlockOfFloats(from, n, to); }
void FromFloats(const float* from, int64_t n, BFloat16* to) { BlockOfFloats(from, n, to); }

void ToFloats(DType dtype, const void* from, int64_t n, float* to) {
  dtype == DType::kF16 ? ToFloats(static_cast<const Half*>(from), n, to)
                       : ToFloats(static_cast<const BFloat16*>(from), n, to);
}
void FromFloats(const float* from, int64_t n, DType dtype, void* to) {
  dtype == DType::kF16 ? FromFloats(from, n, static_cast<Half*>(to))
                       : FromFloats(from, n, static_cast<BFloat16*>(to));
}

void ToFloats(DType dtype, const void* from, const Runs& r, float* to) {
  dtype == DType::kF16 ? RunsToFloats(static_cast<const Half*>(from), r, to)
                       : RunsToFloats(static_cast<const BFloat16*>(from), r, to);
}
void FromFloats(const float* from, const Runs& r, DType dtype, void* to) {
  dtype == DType::kF16 ? FloatsToRuns(from, r, static_cast<Half*>(to))
                       : FloatsToRuns(from, r, static_cast<BFloat16*>(to));
}

}  // namespace firn::cpu

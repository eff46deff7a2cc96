#ifndef FIRN_DEVICE_INTERNAL_FLOAT_CONTROL_H_
#define FIRN_DEVICE_INTERNAL_FLOAT_CONTROL_H_

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace firn::inner::internal {

// The calling thread's flags for flushing denormal results and inputs to zero: bit 15 (FTZ) and bit
// 6 (DAZ) of MXCSR, bit 24 (FZ) of FPCR on 64-bit Arm, nothing elsewhere.
#if defined(__x86_64__)
inline constexpr uint64_t kFlushBits = 0x8040;
inline uint64_t ReadFloatControl() { return _mm_getcsr(); }
inline void WriteFloatControl(uint64_t value) { _mm_setcsr(static_cast<unsigned>(value)); }
#elif defined(__aarch64__)
inline constexpr uint64_t kFlushBits = uint64_t{1} << 24;
inline uint64_t ReadFloatControl() {
  uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
inline void WriteFloatControl(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#else
inline constexpr uint64_t kFlushBits = 0;
inline uint64_t ReadFloatControl() { return 0; }
inline void WriteFloatControl(uint64_t) {}
#endif

// The flush bits alone.
inline uint64_t FlushBits() { return ReadFloatControl() & kFlushBits; }

// Sets them and leaves the other bits alone. Reading is cheap, but writing drains the pipeline, so
// it writes only when the bits differ.
inline void SetFlushBits(uint64_t bits) {
  const uint64_t control = ReadFloatControl();
  const uint64_t wanted = (control & ~kFlushBits) | bits;
  if (wanted != control) WriteFloatControl(wanted);
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_FLOAT_CONTROL_H_

// cpuid says what a processor has, and XGETBV which registers the operating system saves:
// instructions on registers that it does not save end the program. The bits are from Intel's
// "Architectures Software Developer's Manual", volume 2A, CPUID.

#include "firn/device/cpu.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace firn::inner {
namespace {

#if defined(__x86_64__)

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// All zeros for a leaf that the processor does not have.
Registers Leaf(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

template <int... kBits>
bool Has(unsigned word) {
  return ((word >> kBits & 1u) & ...) != 0;
}

// The kinds of registers that the operating system saves.
uint64_t SavedRegisters() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

Cpu Look() {
  Cpu cpu;
  cpu.level = 1;
  const Registers basic = Leaf(1), more = Leaf(7), amd = Leaf(0x80000001u);
  // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF in 64-bit mode.
  if (!Has<0, 9, 13, 19, 20, 23>(basic.ecx) || !Has<0>(amd.ecx)) return cpu;
  cpu.level = 2;
  // FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; registers of SSE and AVX.
  if (!Has<12, 22, 27, 28, 29>(basic.ecx) || !Has<3, 5, 8>(more.ebx) || !Has<5>(amd.ecx)) {
    return cpu;
  }
  const uint64_t saved = SavedRegisters();
  constexpr uint64_t kAvx = 0x6, kAvx512 = 0xe6, kTiles = 0x60000;
  if ((saved & kAvx) != kAvx) return cpu;
  cpu.level = 3;
  // AVX-512 F, DQ, CD, BW, VL.
  if (!Has<16, 17, 28, 30, 31>(more.ebx) || (saved & kAvx512) != kAvx512) return cpu;
  cpu.level = 4;
  cpu.bfloat_dot = Has<5>(Leaf(7, 1).eax);
  cpu.bfloat_tiles = Has<22, 24>(more.edx) && (saved & kTiles) == kTiles;
  return cpu;
}

#else

Cpu Look() { return {}; }

#endif

}  // namespace

const Cpu& ThisCpu() {
  static const Cpu cpu = Look();
  return cpu;
}

const char* LevelName(int level) {
  switch (level) {
    case 1:
      return "x86-64";
    case 2:
      return "x86-64-v2";
    case 3:
      return "x86-64-v3";
    case 4:
      return "x86-64-v4";
    default:
      return "the compiler's default";
  }
}

}  // namespace firn::inner

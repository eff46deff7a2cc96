#ifndef FIRN_DEVICE_CPU_H_
#define FIRN_DEVICE_CPU_H_

namespace firn::inner {

// What the processor that the program runs on can do and the operating system allows.
struct Cpu {
  int level = 0;              // as device/level.h counts
  bool bfloat_dot = false;    // AVX512-BF16
  bool bfloat_tiles = false;  // AMX-TILE and AMX-BF16; a process must also ask the system for them
};

// The first call finds it out. Thread-safe.
const Cpu& ThisCpu();

// The level of the kernels that the program takes (device/level.h): what it was compiled for or,
// where it has kernels for several, the highest of the processor's.
int KernelLevel();
void SetKernelLevel(int level);  // before main(), where there are several

// Channels of one block of the layouts that kernels on the CPU like best (nChw16c, nChw8c).
int ChannelBlock();

// "x86-64-v4", as compilers call it; "the compiler's default" where there are no levels.
const char* LevelName(int level);

}  // namespace firn::inner

#endif  // FIRN_DEVICE_CPU_H_

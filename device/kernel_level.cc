// Compiled for the level of the program, of which kernels of a higher one know nothing.

#include "firn/device/cpu.h"
#include "firn/device/level.h"

namespace firn::inner {
namespace {

int kernel_level = FIRN_LEVEL;

}  // namespace

int KernelLevel() { return kernel_level; }

void SetKernelLevel(int level) { kernel_level = level; }

int ChannelBlock() { return kernel_level >= 4 ? 16 : 8; }

}  // namespace firn::inner

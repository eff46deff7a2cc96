// This file is compiled for the level of the program; kernels of a higher level do not depend on
// it.

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

// Takes the kernels of the highest level that the processor has (--config=portable): calls the
// constructors of those alone, which tools/bazel/levels.bzl has put into sections of their own,
// when the program's own registrations are done and before its other global objects are made.
// Programs without such sections keep their kernels.

#include "firn/tensor/internal/level_kernels.h"

#include <cstddef>

#include "firn/device/cpu.h"
#include "firn/device/environment.h"

using Constructor = void (*)();

// The linker gives a section these names; null where a program has no such section.
extern "C" {
#define FIRN_SECTION(name)                                                               \
  extern const Constructor __start_##name[] __attribute__((weak, visibility("hidden"))); \
  extern const Constructor __stop_##name[] __attribute__((weak, visibility("hidden")));
FIRN_SECTION(firn_x86_64_v3_first)
FIRN_SECTION(firn_x86_64_v3_then)
FIRN_SECTION(firn_x86_64_v4_first)
FIRN_SECTION(firn_x86_64_v4_then)
}

namespace firn::inner::internal {
namespace {

// Volatile, so that the addresses are read from memory: clang would compute them relative to the
// code, which does not give null.
struct Section {
  const Constructor* const volatile begin;
  const Constructor* const volatile end;
};
struct LevelKernels {
  int level;
  Section first, then;
};
const LevelKernels kLevels[] = {
    {4,
     {__start_firn_x86_64_v4_first, __stop_firn_x86_64_v4_first},
     {__start_firn_x86_64_v4_then, __stop_firn_x86_64_v4_then}},
    {3,
     {__start_firn_x86_64_v3_first, __stop_firn_x86_64_v3_first},
     {__start_firn_x86_64_v3_then, __stop_firn_x86_64_v3_then}},
};

void Run(const Section& section) {
  for (const Constructor* c = section.begin; c != section.end; ++c) (*c)();
}

// Runs after registrations (FIRN_BEFORE_GLOBALS).
__attribute__((constructor(501))) void TakeLevel() {
  const int most = env::CpuLevel(KernelLevel(), ThisCpu().level);
  for (const LevelKernels& of : kLevels) {
    if (of.level > most || of.first.begin == nullptr) continue;
    BeginLevelKernels();
    Run(of.first);
    Run(of.then);
    EndLevelKernels();
    SetKernelLevel(of.level);
    return;
  }
}

}  // namespace
}  // namespace firn::inner::internal

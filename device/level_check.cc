// Ends a program on a processor that lacks what it was compiled for: with one line that says so,
// before it reaches the first loop with such an instruction. It runs before other constructors of
// the program and calls nothing that is compiled for a level: BUILD gives this file and cpu.cc the
// flags of the lowest level, and they share no inline function with other files.

#include <unistd.h>

#include <cstring>

#include "firn/device/cpu.h"

namespace firn::inner {
namespace {

void Say(const char* text) {
  // An error is ignored, since the process ends anyway.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

__attribute__((constructor(101))) void CheckLevel() {
  if (ThisCpu().level >= KernelLevel()) return;
  Say("firn: this program was built for ");
  Say(LevelName(KernelLevel()));
  Say(" and this processor is ");
  Say(LevelName(ThisCpu().level));
  Say(": build Firn for it (Bazel: --define=firn_march=");
  Say(LevelName(ThisCpu().level));
  Say("; CMake: -DFIRN_MARCH=");
  Say(LevelName(ThisCpu().level));
  Say("), or with kernels for all processors (--config=portable; -DFIRN_MARCH=portable)\n");
  _exit(1);
}

}  // namespace
}  // namespace firn::inner

#include "tests/count_instructions.h"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace firn::testing {
namespace {

constexpr int kForbidden = 126;

// Runs f between two stops.
[[noreturn]] void RunAsChild(absl::FunctionRef<void()> f) {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(kForbidden);
  raise(SIGSTOP);
  f();
  raise(SIGSTOP);
  _exit(0);
}

}  // namespace

std::optional<int64_t> InstructionsIn(absl::FunctionRef<void()> f) {
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) RunAsChild(f);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kForbidden) return std::nullopt;
  int64_t steps = 0;
  bool ended = false;  // by a signal of its own, which a step would only repeat
  do {
    ended = !WIFSTOPPED(status) || ptrace(PTRACE_SINGLESTEP, child, nullptr, 0) != 0;
    if (ended) break;
    ++steps;
    waitpid(child, &status, 0);
    ended = !WIFSTOPPED(status) || (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP);
  } while (!ended && WSTOPSIG(status) != SIGSTOP);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  if (ended) throw std::runtime_error("what was counted ended its process");
  return steps;
}

}  // namespace firn::testing

// Counts the instructions that a program executes in its own code and in libraries, one step after
// the other: `count_instructions PROGRAM [ARGUMENT...]`. It is slow (a step is a change of process,
// and more where the machine is virtual), but runs on any processor, while valgrind knows no
// AVX-512. Addresses are not randomised, so that equal runs count alike. Only the first thread is
// counted: OMP_NUM_THREADS=1.
//
// The cost of a call is the difference between two runs with different numbers of calls.

#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>

namespace {

[[noreturn]] void Become(char** program) {
  personality(ADDR_NO_RANDOMIZE);
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
    std::perror("count_instructions: this machine forbids tracing");
    _exit(126);
  }
  execvp(program[0], program);
  std::perror(program[0]);
  _exit(127);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: count_instructions PROGRAM [ARGUMENT...]\n", stderr);
    return 2;
  }
  const pid_t child = fork();
  if (child < 0) {
    std::perror("count_instructions: fork");
    return 1;
  }
  if (child == 0) Become(argv + 1);
  int64_t steps = 0;
  int status = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    const int signal = WSTOPSIG(status);  // SIGTRAP ends each step; others are the program's
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, signal == SIGTRAP ? 0 : signal) != 0) {
      std::perror("count_instructions: step");
      return 1;
    }
    ++steps;
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "count_instructions: %s failed\n", argv[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  std::printf("%lld\n", static_cast<long long>(steps));
  return 0;
}

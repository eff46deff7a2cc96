// A forked child's peak begins at the present size of its parent. It writes one byte, whether it
// succeeded, and then its peak or what went wrong.
#include "benchmarks/process_memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::benchmarks {
namespace {

constexpr unsigned kPatience = 600;  // seconds until a child that hangs is ended
constexpr char kWorked = '+', kFailed = '-';

absl::Status Tried(absl::FunctionRef<absl::Status()> work) {
  try {
    return work();
  } catch (const std::exception& e) {
    return absl::InternalError(e.what());
  }
}

void Say(int to, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(to, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<size_t>(written);
  }
}

[[noreturn]] void BeChild(absl::FunctionRef<absl::Status()> work, int to) {
  alarm(kPatience);
  const absl::Status status = Tried(work);
  Say(to, status.ok() ? absl::StrCat(std::string(1, kWorked), ResidentMb("VmHWM"))
                      : absl::StrCat(std::string(1, kFailed), status.message()));
  _exit(0);
}

std::string ReadAll(int from) {
  std::string text;
  char part[512];
  for (ssize_t n; (n = read(from, part, sizeof(part))) > 0;) {
    text.append(part, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

double ResidentMb(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != field + ":") continue;
    double kilobytes = 0;
    status >> kilobytes;
    return kilobytes / 1024;
  }
  return 0;
}

absl::StatusOr<double> PeakMbOfChild(absl::FunctionRef<absl::Status()> work) {
  FIRN_RETURN_IF(ResidentMb("VmHWM") == 0, Unavailable("/proc/self/status has no VmHWM here"));
  int ends[2];
  FIRN_RETURN_IF(pipe(ends) != 0, Internal("no pipe to a child"));
  const pid_t child = fork();
  if (child == 0) BeChild(work, ends[1]);
  close(ends[1]);
  const std::string said = child < 0 ? "" : ReadAll(ends[0]);
  close(ends[0]);
  FIRN_RETURN_IF(child < 0, Internal("no child could be started"));
  int ended = 0;
  waitpid(child, &ended, 0);
  FIRN_RETURN_IF(said.empty(), Internal("the child was ended, its status is ", ended));
  FIRN_RETURN_IF(said[0] == kFailed, Internal(said.substr(1)));
  double peak = 0;
  FIRN_RETURN_IF(!absl::SimpleAtod(said.substr(1), &peak), Internal("a child said ", said));
  return peak;
}

}  // namespace firn::benchmarks

#include "firn/device/comm/mpi_process.h"

#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace firn::comm {
namespace {

struct Process {
  const pid_t id = getpid();
  std::mutex mutex;
  std::vector<std::shared_ptr<void>> kept;
  std::vector<std::pair<void*, void (*)(void*)>> sessions;  // and what stops them
};
Process& TheProcess() {
  static auto* const process = new Process;
  return *process;
}

void StopAll() {
  Process& p = TheProcess();
  if (p.id != getpid()) return;  // a child of fork() has no thread; its lock may be held
  const std::lock_guard lock(p.mutex);
  for (const auto& [session, stop] : p.sessions) stop(session);
}

}  // namespace

void KeepForever(std::shared_ptr<void> memory) {
  Process& p = TheProcess();
  if (p.id != getpid()) return;  // a child's copy, which nobody writes
  const std::lock_guard lock(p.mutex);
  p.kept.push_back(std::move(memory));
}

bool AtTheEnd(void* session, void (*stop)(void* session)) {
  Process& p = TheProcess();
  const std::lock_guard lock(p.mutex);
  // Registered after the library's own handlers, and so called before them.
  static const bool is_registered = std::atexit(StopAll) == 0;
  if (is_registered) p.sessions.emplace_back(session, stop);
  return is_registered;
}

void ForgetTheEnd(void* session) {
  Process& p = TheProcess();
  const std::lock_guard lock(p.mutex);
  std::erase_if(p.sessions, [session](const auto& s) { return s.first == session; });
}

}  // namespace firn::comm

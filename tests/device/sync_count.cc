// A program's own functions stand before those of the C library.
#include "tests/device/sync_count.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<int> syncs = 0;

}  // namespace

extern "C" int fsync(int fd) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fsync, fd));
}

extern "C" int fdatasync(int fd) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

namespace firn::testing {

int SyncCount::Take() { return syncs.exchange(0); }

}  // namespace firn::testing

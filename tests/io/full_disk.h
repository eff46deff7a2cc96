#ifndef FIRN_TESTS_IO_FULL_DISK_H_
#define FIRN_TESTS_IO_FULL_DISK_H_

#include <sys/resource.h>

#include <csignal>

#include "absl/status/status.h"
#include "tests/error_of.h"

namespace firn::io {

// While this lives, no file grows beyond `bytes`, which stands for a full disk: both make write()
// fail half way. The program must not print, since the log is a file, too.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit small = {bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit old_;
  void (*handler_)(int);
};

// The error that `write` throws on a full disk.
template <class F>
absl::Status OnAFullDisk(rlim_t bytes, F write) {
  const FullDisk full(bytes);
  return testing::StatusOf(write);
}

}  // namespace firn::io

#endif  // FIRN_TESTS_IO_FULL_DISK_H_

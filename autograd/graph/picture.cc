// WriteGraphPicture: runs `dot` as a process of its own, with an array of arguments and no shell.
// It reads the text from one temporary file and writes the picture into another, so the only pipe
// carries the messages of `dot`, and neither process waits for the other to read or write.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/dot.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

using internal::AtomicFile;

// Everything that the process writes before it closes its end, at most the first 4 kB of it.
std::string ReadAll(int fd) {
  constexpr size_t kMost = 4096;
  std::string text;
  char part[1024];
  for (;;) {
    const ssize_t got = read(fd, part, sizeof(part));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (text.size() < kMost) text.append(part, static_cast<size_t>(got));
  }
  return std::string(absl::StripAsciiWhitespace(text));
}

// Starts `dot`, with standard error going into `messages`.
absl::StatusOr<pid_t> Start(const std::string& format, const std::string& from,
                            const std::string& to, int messages) {
  // A name that begins with a dash is no option.
  const auto name = [](const std::string& path) { return path[0] == '-' ? "./" + path : path; };
  std::string arguments[] = {"dot", absl::StrCat("-T", format), "-o", name(to), name(from)};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                  arguments[3].data(), arguments[4].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  FIRN_RETURN_IF(error == ENOENT || error == EACCES,
                 FailedPrecondition("the program `dot` is not in $PATH; install Debian's package "
                                    "graphviz, or write a .dot file and draw it elsewhere"));
  if (error != 0) return absl::ErrnoToStatus(error, "cannot start `dot`");
  return pid;
}

absl::Status RunDot(const std::string& format, const std::string& from, const std::string& to) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
  const absl::StatusOr<pid_t> pid = Start(format, from, to, ends[1]);
  close(ends[1]);
  if (!pid.ok()) {
    close(ends[0]);
    return pid.status();
  }
  const std::string messages = ReadAll(ends[0]);
  close(ends[0]);
  int how = 0;
  while (waitpid(*pid, &how, 0) < 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "cannot wait for `dot`");
  }
  FIRN_RETURN_IF(WIFSIGNALED(how), Internal("`dot` was ended by signal ", WTERMSIG(how)));
  FIRN_RETURN_IF(WEXITSTATUS(how) != 0,
                 Internal("`dot` failed with exit status ", WEXITSTATUS(how), ": ", messages));
  return absl::OkStatus();
}

absl::Status WritePicture(const Graph& graph, const std::string& path,
                          const PictureOptions& options) {
  constexpr auto kWait = internal::WaitFor::kNothing;  // a lost picture can be drawn again
  if (absl::EndsWith(path, ".dot")) {
    return internal::ReplaceFile(path, DotText(graph, options), kWait);
  }
  const bool svg = absl::EndsWith(path, ".svg");
  FIRN_RETURN_IF(!svg && !absl::EndsWith(path, ".png"),
                 InvalidArgument(path, " ends in neither .svg nor .png nor .dot"));
  FIRN_ASSIGN_OR_RETURN(AtomicFile text, AtomicFile::Create(path));  // is never committed
  const std::string dot = DotText(graph, options);
  FIRN_RETURN_IF_ERROR(text.Write(dot.data(), dot.size()));
  FIRN_ASSIGN_OR_RETURN(AtomicFile picture, AtomicFile::Create(path));
  FIRN_RETURN_IF_ERROR(
      RunDot(svg ? "svg" : "png", text.temporary_path(), picture.temporary_path()));
  return picture.Commit(kWait);
}

}  // namespace

void WriteGraphPicture(const Graph& graph, const std::string& path, const PictureOptions& options) {
  RaiseIfError(WritePicture(graph, path, options), "write_graph_picture");
}

}  // namespace firn

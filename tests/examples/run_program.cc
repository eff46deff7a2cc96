// Streams go through files, so that no pipe can fill up while the other one is read.
#include "tests/examples/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>

#include "gtest/gtest.h"

namespace firn::testing {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Under `bazel test` programs lie beside the test's data, else in bazel-bin.
std::string Locate(const std::string& program) {
  return std::filesystem::exists(program) ? program : "bazel-bin/" + program;
}

// Starts a program with its streams in these files. 0 where it cannot be started.
pid_t Start(const std::string& program, const std::vector<std::string>& arguments,
            const std::string& in, const std::string& out, const std::string& err) {
  const std::string path = Locate(program);
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), kWrite, 0600);
  pid_t child = 0;
  const int failed = posix_spawn(&child, path.c_str(), &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  EXPECT_EQ(failed, 0) << "cannot start " << path;
  return failed == 0 ? child : 0;
}

}  // namespace

ProgramResult RunProgram(const std::string& program, const std::vector<std::string>& arguments,
                         const std::string& input) {
  const std::string base = ::testing::TempDir() + "/run." + std::to_string(getpid());
  const std::string in = base + ".in", out = base + ".out", err = base + ".err";
  std::ofstream(in, std::ios::binary) << input;
  const pid_t child = Start(program, arguments, in, out, err);
  ProgramResult result;
  int status = 0;
  if (child != 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
  }
  result.output = ReadAll(out);
  result.errors = ReadAll(err);
  for (const std::string& file : {in, out, err}) std::filesystem::remove(file);
  return result;
}

bool KillProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const std::function<bool()>& now) {
  const pid_t child = Start(program, arguments, "/dev/null", "/dev/null", "/dev/null");
  if (child == 0) return false;
  int status = 0;
  while (!now()) {
    if (waitpid(child, &status, WNOHANG) == child) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGKILL);
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

double NumberAfter(const std::string& output, const std::string& text) {
  const size_t at = output.rfind(text);
  if (at == std::string::npos) return std::numeric_limits<double>::quiet_NaN();
  return std::strtod(output.c_str() + at + text.size(), nullptr);
}

}  // namespace firn::testing

// firn onnx check: folders of ONNX's backend tests. Each runs in a copy of this process, which
// reports its result by a pipe, so that a crash or a hang concerns one folder only. The process
// itself computes nothing, since a copy has only one thread.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/text_table.h"
#include "firn/io/onnx/onnx_info.h"
#include "firn/io/onnx/onnx_test_folder.h"
#include "firn/tensor/error.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

namespace files = std::filesystem;

struct Options {
  std::vector<std::string> folders;
  std::string json;
  double seconds = 60;
  io::OnnxTestOptions test;
};

constexpr char kPrint[] = "true";  // what a flag without a value is
constexpr const char* kVerdicts[] = {"pass", "wrong", "unsupported", "crashed"};

// --- In the copy --------------------------------------------------------------------------------

void Say(int to, const nlohmann::json& value) {
  const std::string line =
      value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  for (size_t at = 0; at < line.size();) {
    const ssize_t n = write(to, line.data() + at, line.size() - at);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) at += static_cast<size_t>(n);
  }
}

// Reports the operators, and then, if the run ends, the verdict.
void Test(const std::string& folder, const io::OnnxTestOptions& options, int to) {
  try {
    std::vector<std::string> operators;
    for (const auto& [name, count] : io::ReadOnnxInfo(folder + "/model.onnx").operators) {
      operators.push_back(name);
    }
    Say(to, {{"operators", operators}});
    const io::OnnxTestResult result = io::TestOnnxFolder(folder, options);
    Say(to, {{"verdict", kVerdicts[static_cast<int>(result.verdict)]}, {"why", result.why}});
  } catch (const std::exception& error) {
    Say(to, {{"verdict", "wrong"}, {"why", error.what()}});
  }
}

// --- In the process -----------------------------------------------------------------------------

// The text until the other end of the pipe is closed; `late`: the time was over before.
std::string Listen(int from, double seconds, bool* late) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::string said;
  for (;;) {
    const double left =
        std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
    *late = left <= 0;
    if (*late) return said;
    pollfd ready = {from, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::min(left, 1e6) * 1000) + 1) <= 0) continue;
    char part[4096];
    const ssize_t n = read(from, part, sizeof(part));
    if (n == 0) return said;
    if (n > 0) said.append(part, static_cast<size_t>(n));
  }
}

// Waits until a copy ends, and says how it ended.
std::string HowItEnded(pid_t pid) {
  int how = 0;
  while (waitpid(pid, &how, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(how)) return absl::StrCat("ended by signal ", WTERMSIG(how));
  return absl::StrCat("ended with exit status ", WEXITSTATUS(how));
}

nlohmann::json RunFolder(const std::string& folder, const Options& options) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    close(ends[0]);
    Test(folder, options.test, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  bool late = false;
  const std::string said = Listen(ends[0], options.seconds, &late);
  close(ends[0]);
  if (late) kill(pid, SIGKILL);
  const std::string how = HowItEnded(pid);
  nlohmann::json row = {{"folder", folder}, {"operators", nlohmann::json::array()}};
  for (size_t at = 0; at < said.size();) {
    const size_t end = std::min(said.find('\n', at), said.size());
    const auto part = nlohmann::json::parse(said.substr(at, end - at), nullptr, false);
    if (part.is_object()) row.update(part);
    at = end + 1;
  }
  if (!row.contains("verdict")) {
    row["verdict"] = "crashed";
    row["why"] = late ? absl::StrCat("not done after ", options.seconds, " s") : how;
  }
  return row;
}

// Folders with a model in them, in or below the given ones, by name.
std::vector<std::string> Expand(const std::vector<std::string>& given) {
  std::vector<std::string> found;
  for (const std::string& folder : given) {
    const size_t before = found.size();
    if (!files::is_directory(folder)) {
      throw UsageError(folder + ": expected a folder with model.onnx, got " +
                       (files::exists(folder) ? "a file" : "a name that nothing has"));
    }
    if (files::exists(files::path(folder) / "model.onnx")) found.push_back(folder);
    for (const auto& entry : files::recursive_directory_iterator(folder)) {
      if (entry.path().filename() == "model.onnx" && entry.path().parent_path() != folder) {
        found.push_back(entry.path().parent_path().string());
      }
    }
    if (found.size() == before) {
      throw UsageError(folder + " has no model.onnx, and no folder in it has one");
    }
    std::sort(found.begin() + static_cast<ptrdiff_t>(before), found.end());
  }
  return found;
}

// --- What came out ------------------------------------------------------------------------------

using Counts = std::map<std::string, int64_t>;

std::vector<std::string> Line(std::string name, Counts& counts) {
  std::vector<std::string> line = {std::move(name)};
  for (const char* const verdict : kVerdicts) line.push_back(absl::StrCat(counts[verdict]));
  return line;
}

// A table by operator, those with failures first, and the error of each folder.
std::string Report(const std::vector<nlohmann::json>& rows, Counts& all) {
  std::map<std::string, Counts> by_operator;
  std::string faults;
  for (const nlohmann::json& row : rows) {
    const auto verdict = row["verdict"].get<std::string>();
    ++all[verdict];
    for (const auto& name : row["operators"]) ++by_operator[name.get<std::string>()][verdict];
    if (verdict == "pass") continue;
    absl::StrAppend(&faults, verdict, "  ", row["folder"].get<std::string>(), ": ",
                    row["why"].get<std::string>(), "\n");
  }
  std::vector<std::vector<std::string>> table = {
      {"operator", "pass", "wrong", "unsupported", "crashed"}};
  for (auto& [name, counts] : by_operator) table.push_back(Line(name, counts));
  table.push_back(Line(absl::StrCat("all ", rows.size(), " folders"), all));
  return absl::StrCat(faults, faults.empty() ? "" : "\n", inner::internal::AlignedText(table, 1));
}

}  // namespace

FIRN_SUBCOMMAND(onnx, check, "Runs folders of ONNX's backend tests") {
  auto o = std::make_shared<Options>();
  app.add_option("FOLDER", o->folders,
                 "a folder with model.onnx and test_data_set_0/input_0.pb, output_0.pb, ...; or a "
                 "folder of such folders")
      ->required();
  app.remove_option(app.get_option("--json"));  // this message may name a file
  app.add_flag("--json", o->json,
               "prints one JSON value; --json=FILE writes a line of JSON for each folder");
  app.add_option("--seconds", o->seconds, "the most seconds that a folder may take (default: 60)")
      ->check(AtLeast(0));
  app.add_option("--rtol", o->test.rtol,
                 "relative tolerance: the allowed difference as a share of the expected element "
                 "(default: 1e-3)");
  app.add_option("--atol", o->test.atol,
                 "absolute tolerance, added to the relative one (default: 1e-7)");
  app.footer(
      "The exit status is 1 if a result is wrong or a process crashed. Example:\n"
      "  firn onnx check onnx/backend/test/data/node --json=rows.jsonl");
  return [o](Terminal& terminal) {
    std::vector<nlohmann::json> rows;
    for (const std::string& folder : Expand(o->folders)) rows.push_back(RunFolder(folder, *o));
    terminal.json = o->json == kPrint;
    if (!o->json.empty() && !terminal.json) {
      std::ofstream out(o->json);
      for (const nlohmann::json& row : rows) out << row.dump() << "\n";
      if (!out.flush()) throw std::system_error(errno, std::generic_category(), o->json);
    }
    Counts all;
    const std::string text = Report(rows, all);
    terminal.Print(text, rows);
    return all["wrong"] + all["crashed"] == 0 ? 0 : 1;
  };
}

}  // namespace firn::cli

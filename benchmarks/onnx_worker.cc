// Times the inference of ONNX files for onnx_compare.py: a JSON object a line in, one a line out;
// the protocol is in peers/README.md. It runs a captured graph whose parameters are constants.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "benchmarks/json_line.h"
#include "benchmarks/worker_loop.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/profile.h"
#include "firn/device/escape.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/io/npy/npy.h"
#include "firn/io/onnx/onnx.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/precision.h"

namespace firn::benchmarks {
namespace {

constexpr int64_t kMostCalls = 1'000'000;

// The state that is kept between commands.
class Worker {
 public:
  absl::StatusOr<std::string> Answer(const JsonLine& command) {
    FIRN_ASSIGN_OR_RETURN(const std::string name, command.Text("cmd"));
    if (name == "setup") return Setup(command);
    FIRN_RETURN_IF(name != "block" && name != "profile",
                   InvalidArgument("unknown command '", name, "'"));
    FIRN_RETURN_IF(!graph_, InvalidArgument("'", name, "' comes before 'setup'"));
    FIRN_ASSIGN_OR_RETURN(const int64_t calls, command.Integer("calls"));
    FIRN_RETURN_IF(calls < 1 || calls > kMostCalls,
                   InvalidArgument("calls is ", calls, " (want 1 to ", kMostCalls, ")"));
    return name == "block" ? Block(command, calls) : Profiled(calls);
  }

 private:
  absl::StatusOr<std::string> Setup(const JsonLine& command) {
    graph_.reset();
    FIRN_ASSIGN_OR_RETURN(const std::string model, command.Text("model"));
    FIRN_ASSIGN_OR_RETURN(const std::string input, command.Text("input"));
    FIRN_ASSIGN_OR_RETURN(const std::string result, command.Text("result"));
    FIRN_ASSIGN_OR_RETURN(const int64_t threads, command.IntegerOr("threads", 1));
    FIRN_ASSIGN_OR_RETURN(const int64_t winograd, command.IntegerOr("winograd", 1));
    SetNumThreads(static_cast<int>(std::clamp<int64_t>(threads, 1, 1024)));
    SetWinogradAllowed(winograd != 0);
    const NoGradScope no_grad;
    const Network network = io::ImportOnnx(model).network;
    input_ = io::ReadNpy(input);
    graph_ =
        Freeze({.arithmetic = Arithmetic::kReordered, .constant_states = true}, network, input_);
    io::WriteNpy(result, (*graph_)(input_));
    const double start = NowMs(false);
    (*graph_)(input_);
    return absl::StrFormat("{\"ok\": true, \"ms\": %.9g}", NowMs(false) - start);
  }

  absl::StatusOr<std::string> Block(const JsonLine& command, int64_t calls) {
    const absl::StatusOr<std::string> clock = command.TextOr("clock", "wall");
    FIRN_RETURN_IF_ERROR(clock.status());
    const bool cpu = *clock == "cpu";
    FIRN_RETURN_IF(!cpu && *clock != "wall",
                   InvalidArgument("there is no clock '", *clock, "', only wall and cpu"));
    std::vector<std::string> ms;
    for (int64_t i = 0; i < calls; ++i) {
      const double start = NowMs(cpu);
      (*graph_)(input_);
      ms.push_back(absl::StrFormat("%.9g", NowMs(cpu) - start));
    }
    return absl::StrCat("{\"ms\": [", absl::StrJoin(ms, ", "), "]}");
  }

  absl::StatusOr<std::string> Profiled(int64_t calls) {
    const std::string table = ProfileGraph(*graph_, {input_}, calls).ByOperation();
    return absl::StrCat("{\"table\": ", internal::JsonString(table), "}");
  }

  std::optional<StaticGraph> graph_;
  Tensor input_;
};

}  // namespace
}  // namespace firn::benchmarks

int main() {
  firn::benchmarks::Worker worker;
  firn::benchmarks::AnswerCommands(
      [&](const firn::benchmarks::JsonLine& command) { return worker.Answer(command); });
}

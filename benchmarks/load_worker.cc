// Times reading files of weights for load_compare.py: a JSON object a line in, one a line out; the
// protocol is in peers/README.md.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "benchmarks/json_line.h"
#include "benchmarks/worker_loop.h"
#include "firn/device/status_macros.h"
#include "firn/io/parameters.h"
#include "firn/io/safetensors/safetensors.h"
#include "firn/tensor/tensor.h"

namespace firn::benchmarks {
namespace {

constexpr size_t kFloatsOfPage = 1024;

// Sums one number of each page, so that the pages of a mapped file are read from disk.
double Touch(const StateDict& state) {
  double sum = 0;
  for (const auto& [name, tensor] : state) {
    const absl::Span<const float> numbers = tensor.host_view<float>();
    for (size_t i = 0; i < numbers.size(); i += kFloatsOfPage) sum += numbers[i];
  }
  return sum;
}

absl::StatusOr<std::string> Load(const JsonLine& command) {
  FIRN_ASSIGN_OR_RETURN(const std::string name, command.Text("cmd"));
  FIRN_RETURN_IF(name != "load", InvalidArgument("unknown command '", name, "', only load"));
  FIRN_ASSIGN_OR_RETURN(const std::string file, command.Text("file"));
  FIRN_ASSIGN_OR_RETURN(const int64_t map, command.IntegerOr("map", 0));
  FIRN_ASSIGN_OR_RETURN(const std::string clock, command.TextOr("clock", "wall"));
  const bool cpu = clock == "cpu";
  const double start = NowMs(cpu);
  const StateDict state = map != 0 ? io::LoadSafetensors(file) : io::Load(file);
  const double loaded = NowMs(cpu);
  const double sum = Touch(state);
  const double touched = NowMs(cpu);
  return absl::StrFormat("{\"load_ms\": %.9g, \"touch_ms\": %.9g, \"tensors\": %d, \"sum\": %.9g}",
                         loaded - start, touched - loaded, state.size(), sum);
}

}  // namespace
}  // namespace firn::benchmarks

int main() { firn::benchmarks::AnswerCommands(firn::benchmarks::Load); }

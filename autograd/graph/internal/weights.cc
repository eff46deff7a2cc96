#include "firn/autograd/graph/internal/weights.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/graph_traits.h"

namespace firn::inner::internal {
bool LiesIn(std::string_view path, const std::vector<std::string>& modules) {
  return modules.empty() ||
         std::any_of(modules.begin(), modules.end(), [&](const std::string& module) {
           return path.substr(0, module.size()) == module &&
                  (path.size() == module.size() || path[module.size()] == '.');
         });
}

absl::StatusOr<std::vector<WeightUse>> WeightsOf(const Graph& graph,
                                                 const std::vector<std::string>& modules) {
  const Uses uses(graph);
  std::vector<WeightUse> weights;
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    const Instr& instr = graph.instrs[at];
    FIRN_RETURN_IF(instr.phase != Phase::kForward,
                   FailedPrecondition("expected a graph without a backward pass, got ",
                                      PlaceOf(instr), " in one (ToEvaluation leaves it out)"));
    const std::optional<ChannelMap>& map = TraitsOf(*instr.op).channel_map;
    if (!map || map->scales_alone || !LiesIn(instr.module_path(), modules)) continue;
    const Value& value = graph.value(instr.in[map->weight]);
    const bool floats = value.spec.dtype == DType::kF32 || value.spec.dtype == DType::kF64;
    if (!value.bound.defined() || !floats || value.spec.shape.rank() < 2 ||
        value.spec.num_elements() == 0 || uses.changed(value.buffer)) {
      continue;
    }
    weights.push_back({at, map->weight, value.bound});
  }
  return weights;
}

std::string PlaceOf(const Instr& instr) {
  return instr.path == nullptr ? std::string(instr.op->name)
                               : absl::StrCat(std::string(instr.op->name), " at ", *instr.path);
}

}  // namespace firn::inner::internal

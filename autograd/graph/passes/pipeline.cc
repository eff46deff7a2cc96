// The order: states become constants before constants are folded; that comes again after the passes
// that compute with weights; what all of them leave behind is dropped. Updates move last.

#include "firn/autograd/graph/passes/pipeline.h"

#include <utility>

#include "firn/autograd/graph/passes/common_subexpressions.h"
#include "firn/autograd/graph/passes/constant_states.h"
#include "firn/autograd/graph/passes/dead_code.h"
#include "firn/autograd/graph/passes/fold_batch_norm.h"
#include "firn/autograd/graph/passes/fold_constants.h"
#include "firn/autograd/graph/passes/fuse_activation.h"
#include "firn/autograd/graph/passes/recompute.h"
#include "firn/autograd/graph/passes/remove_bias.h"
#include "firn/autograd/graph/passes/schedule_updates.h"
#include "firn/device/status_macros.h"

namespace firn {

absl::StatusOr<std::vector<PassReport>> RunPasses(Graph& graph, const PassOptions& options) {
  using Pass = absl::StatusOr<PassReport> (*)(Graph&);
  std::vector<Pass> passes = {EliminateDeadCode};
  if (options.constant_states) passes.push_back(ConstantStates);
  passes.push_back(FoldConstants);
  if (options.arithmetic == Arithmetic::kReordered) {
    passes.insert(passes.end(), {RemoveBiasBeforeBatchNorm, FoldBatchNorm, FoldConstants});
  }
  passes.insert(passes.end(), {MergeCommonSubexpressions, FuseActivation, EliminateDeadCode});
  if (options.recompute) passes.push_back(Recompute);
  passes.push_back(ScheduleUpdates);
  std::vector<PassReport> reports;
  for (Pass pass : passes) {
    FIRN_ASSIGN_OR_RETURN(PassReport report, pass(graph));
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace firn

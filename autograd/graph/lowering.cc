// The steps behind the passes, in their order. Sums of bytes take up what reads them before layouts
// are chosen, because one kernel then decides the layouts of both. Layouts come next; then what is
// constant in another layout is computed and weights are packed for their kernels. Results take
// arguments' places before chains are made, since a chain may do so element by element only.

#include "firn/autograd/graph/lowering.h"

#include <utility>

#include "firn/autograd/graph/explain.h"
#include "firn/autograd/graph/finish_sums.h"
#include "firn/autograd/graph/fuse_elementwise.h"
#include "firn/autograd/graph/in_place.h"
#include "firn/autograd/graph/lower.h"
#include "firn/autograd/graph/pack_parameters.h"
#include "firn/autograd/graph/passes/dead_code.h"
#include "firn/autograd/graph/passes/fold_constants.h"
#include "firn/device/status_macros.h"

namespace firn {
namespace {

absl::StatusOr<PassReport> ChooseKernels(Graph& graph) {
  FIRN_ASSIGN_OR_RETURN(Graph lowered, Lower(graph));
  PassReport report = ReportReorders(graph, lowered);
  graph = std::move(lowered);
  return report;
}

absl::StatusOr<PassReport> FoldReordered(Graph& graph) {
  FIRN_ASSIGN_OR_RETURN(PassReport report, FoldConstants(graph));
  if (report.changes != 0) DropUnusedValues(graph);
  return report;
}

using Step = absl::StatusOr<PassReport> (*)(Graph&);
constexpr Step kSteps[] = {FinishSums,     ChooseKernels, FoldReordered,
                           PackParameters, MarkInPlace,   FuseElementwise};

}  // namespace

absl::StatusOr<std::vector<PassReport>> RunLowering(Graph& graph) {
  std::vector<PassReport> reports;
  for (const Step step : kSteps) {
    FIRN_ASSIGN_OR_RETURN(PassReport report, step(graph));
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace firn

// StaticGraph: a captured graph, the lowered one, and its executor.

#include "autograd/graph/static_graph.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "autograd/graph/analysis.h"
#include "autograd/graph/executor.h"
#include "autograd/graph/explain.h"
#include "autograd/graph/fuse_elementwise.h"
#include "autograd/graph/in_place.h"
#include "autograd/graph/lower.h"
#include "autograd/graph/pack_parameters.h"
#include "autograd/graph/passes/dead_code.h"
#include "autograd/graph/passes/fold_constants.h"
#include "autograd/graph/passes/pipeline.h"
#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/precision.h"
#include "tensor/tuning.h"

namespace firn {
namespace {

// Gradients of leaves that the graph itself changes become temporaries.
void DropGradients(Graph& graph) {
  const std::vector<bool> written = ChangedInPlace(graph);
  std::vector<const Storage*> changed;
  for (const Value& v : graph.values) {
    if (v.bound.defined() && written[static_cast<size_t>(v.buffer)]) {
      changed.push_back(v.bound.impl()->storage.get());
    }
  }
  for (GradientEffect& e : graph.gradients) {
    if (e.value == kNoValue || e.expected) continue;
    const Storage* leaf = e.leaf.impl()->storage.get();
    if (std::find(changed.begin(), changed.end(), leaf) == changed.end()) continue;
    Value& grad = graph.value(e.value);
    grad.bound = Tensor();
    graph.buffer_of(e.value).kind = Buffer::Kind::kTemp;
    e.value = kNoValue;
  }
}

}  // namespace

struct StaticGraph::Parts {
  Graph captured;
  std::vector<PassReport> reports;
  std::unique_ptr<Executor> executor;
};

StaticGraph::StaticGraph(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
StaticGraph::StaticGraph(StaticGraph&&) noexcept = default;
StaticGraph& StaticGraph::operator=(StaticGraph&&) noexcept = default;
StaticGraph::~StaticGraph() = default;

absl::StatusOr<StaticGraph> StaticGraph::Compile(Graph graph, const CompileOptions& options) {
  FIRN_RETURN_IF_ERROR(graph.Verify());
  if (!options.keep_gradients) DropGradients(graph);
  auto parts = std::make_unique<Parts>();
  parts->captured = graph;
  FIRN_ASSIGN_OR_RETURN(parts->reports, RunPasses(graph, {.arithmetic = options.arithmetic,
                                                          .freeze_states = options.freeze_states,
                                                          .recompute = options.recompute}));
  const internal::Precision now = internal::Precision::Now();
  const internal::PrecisionScope precision(now);  // whatever other threads set meanwhile
  const TuningScope tuning(options.autotune);     // layouts are those of the kernels that will run
  FIRN_ASSIGN_OR_RETURN(Graph lowered, Lower(graph));
  FIRN_ASSIGN_OR_RETURN(PassReport folded, FoldConstants(lowered));  // constants in other layouts
  if (folded.changes != 0) DropUnusedValues(lowered);
  parts->reports.push_back(std::move(folded));
  parts->reports.push_back(ReportReorders(graph, lowered));
  FIRN_ASSIGN_OR_RETURN(PassReport packed, PackParameters(lowered));
  parts->reports.push_back(std::move(packed));
  parts->reports.push_back({.pass = "in_place", .changes = MarkInPlace(lowered)});
  FIRN_ASSIGN_OR_RETURN(PassReport fused, FuseElementwise(lowered));
  parts->reports.push_back(std::move(fused));
  FIRN_ASSIGN_OR_RETURN(parts->executor, Executor::Make(std::move(lowered),
                                                        {.max_arena_bytes = options.max_arena_bytes,
                                                         .side_stream = options.side_stream,
                                                         .autotune = options.autotune}));
  parts->reports.push_back(ReportSideStream(parts->executor->graph(), parts->executor->streams()));
  return StaticGraph(std::move(parts));
}

absl::Status StaticGraph::Run(absl::Span<const Tensor> in, absl::Span<Tensor> out) {
  const Graph& g = graph();
  for (size_t i = 0; i < out.size() && i < g.outputs.size(); ++i) {
    if (out[i].defined()) continue;
    const TensorSpec& spec = g.value(g.outputs[i]).spec;
    FIRN_RETURN_IF_ERROR(AllocateInto(TensorSpec::Contiguous(spec.dtype, spec.shape, spec.device),
                                      AllocTag::kActivation, &out[i]));
  }
  return parts_->executor->Run(in, out);
}

TensorList StaticGraph::Call(absl::Span<const Tensor> in) {
  TensorList out(graph().outputs.size());
  RaiseIfError(Run(in, absl::MakeSpan(out)), "graph");
  return out;
}

Tensor StaticGraph::CallForOne(absl::Span<const Tensor> in) {
  if (graph().outputs.size() != 1) {
    RaiseStatus(FailedPrecondition("has ", graph().outputs.size(), " results; use Call"), "graph");
  }
  Tensor out;
  RaiseIfError(Run(in, absl::MakeSpan(&out, 1)), "graph");
  return out;
}

const Graph& StaticGraph::captured() const { return parts_->captured; }
const Graph& StaticGraph::graph() const { return parts_->executor->graph(); }
const MemoryPlan& StaticGraph::memory() const { return parts_->executor->plan(); }

int64_t StaticGraph::recorded_runs() const { return parts_->executor->recorded_runs(); }

int64_t StaticGraph::operations_aside() const {
  const StreamPlan* streams = parts_->executor->streams();
  return streams == nullptr ? 0 : std::count(streams->aside.begin(), streams->aside.end(), true);
}

std::string StaticGraph::Explain() const {
  return firn::Explain({captured(), parts_->reports, graph(), memory(), parts_->executor->peak(),
                        parts_->executor->WhyNotRecorded()});
}

StaticGraph internal::CaptureAndCompile(CaptureFn fn, absl::Span<const Tensor> inputs) {
  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(Capture(fn, inputs).graph);
  RaiseIfError(graph.status(), "freeze");
  return *std::move(graph);
}

}  // namespace firn

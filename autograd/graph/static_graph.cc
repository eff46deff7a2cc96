// StaticGraph: a captured graph, the lowered one, and its executor.

#include "firn/autograd/graph/static_graph.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/executor.h"
#include "firn/autograd/graph/explain.h"
#include "firn/autograd/graph/lowering.h"
#include "firn/autograd/graph/passes/pipeline.h"
#include "firn/autograd/graph/plan.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/tuning.h"

namespace firn {
namespace {

// The gradients of leaves that the graph itself changes become temporaries if the run makes them
// and they share memory with no gradient that is left.
void DropGradients(Graph& graph) {
  std::vector<bool> made(graph.buffers.size());  // by an operation of the run
  for (const Instr& instr : graph.instrs) {
    for (const ValueId id : instr.out) {
      if (!instr.op->is_view) made[static_cast<size_t>(graph.value(id).buffer)] = true;
    }
  }
  const std::vector<bool> written = ChangedInPlace(graph);
  absl::flat_hash_set<const Storage*> changed;
  for (const Value& v : graph.values) {
    if (v.bound.defined() && written[static_cast<size_t>(v.buffer)]) {
      changed.insert(v.bound.impl()->storage.get());
    }
  }
  const auto may_go = [&](const GradientEffect& e) {
    const Storage* leaf = e.leaf.impl()->storage.get();
    return e.finds == GradientEffect::Finds::kAnything &&
           made[static_cast<size_t>(graph.value(e.value).buffer)] && changed.contains(leaf);
  };
  std::vector<bool> stays(graph.buffers.size());
  for (const GradientEffect& e : graph.gradients) {
    if (e.value != kNoValue && !may_go(e)) {
      stays[static_cast<size_t>(graph.value(e.value).buffer)] = true;
    }
  }
  for (GradientEffect& e : graph.gradients) {
    if (e.value == kNoValue || stays[static_cast<size_t>(graph.value(e.value).buffer)]) continue;
    graph.value(e.value).bound = Tensor();
    graph.buffer_of(e.value).kind = Buffer::Kind::kTemp;
    e.value = kNoValue;
    e.withheld = true;
  }
}

absl::Status MovedFrom() { return FailedPrecondition("the graph is empty: it was moved from"); }

// Whether a run takes the tensor without a copy. Undefined tensors pass here, because the run
// refuses them itself.
bool IsPlain(const Tensor& t) { return !t.defined() || IsPending(t) || t.is_contiguous(); }

bool OnCpu(const Graph& graph) {
  return std::all_of(graph.values.begin(), graph.values.end(),
                     [](const Value& v) { return v.spec.device.is_cpu(); });
}

}  // namespace

struct StaticGraph::Parts {
  // How the graph was made; replicas share it.
  struct Origin {
    Graph captured;
    std::vector<PassReport> reports;
  };
  std::shared_ptr<const Origin> origin;
  std::unique_ptr<Executor> executor;
  // Results of the captured run. Any thread that runs the graph drops them: the one that clears the
  // flag owns them.
  TensorList first;
  std::atomic<bool> has_first{false};
};

StaticGraph::StaticGraph(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
StaticGraph::StaticGraph(StaticGraph&&) noexcept = default;
StaticGraph& StaticGraph::operator=(StaticGraph&&) noexcept = default;
StaticGraph::~StaticGraph() = default;

absl::StatusOr<StaticGraph> StaticGraph::Compile(Graph graph, const CompileOptions& options) {
  FIRN_RETURN_IF_ERROR(graph.Verify());
  if (!options.keep_gradients) DropGradients(graph);
  auto parts = std::make_unique<Parts>();
  auto origin = std::make_shared<Parts::Origin>();
  origin->captured = graph;
  FIRN_ASSIGN_OR_RETURN(origin->reports,
                        RunPasses(graph, {.arithmetic = options.arithmetic,
                                          .constant_states = options.constant_states,
                                          .recompute = options.recompute.value_or(OnCpu(graph))}));
  const internal::Precision now = internal::Precision::Now();
  const internal::PrecisionScope precision(now);  // whatever other threads set meanwhile
  const TuningScope tuning(options.autotune);     // layouts are those of the kernels that will run
  FIRN_ASSIGN_OR_RETURN(std::vector<PassReport> lowering, RunLowering(graph));
  std::move(lowering.begin(), lowering.end(), std::back_inserter(origin->reports));
  FIRN_ASSIGN_OR_RETURN(
      parts->executor, Executor::Make(std::move(graph), {.max_arena_bytes = options.max_arena_bytes,
                                                         .side_stream = options.side_stream,
                                                         .autotune = options.autotune}));
  origin->reports.push_back(ReportSideStream(parts->executor->graph(), parts->executor->streams()));
  parts->origin = std::move(origin);
  return StaticGraph(std::move(parts));
}

StaticGraph::Parts& StaticGraph::parts() const {
  if (parts_ == nullptr) RaiseStatus(MovedFrom(), "graph");
  return *parts_;
}

absl::Status StaticGraph::Run(absl::Span<const Tensor> in, absl::Span<Tensor> out) {
  if (parts_ == nullptr) return MovedFrom();
  const Graph& g = graph();
  absl::InlinedVector<Tensor, 4> arranged;
  if (!std::all_of(in.begin(), in.end(), IsPlain)) {
    for (const Tensor& t : in) {
      FIRN_ASSIGN_OR_RETURN(Tensor plain, IsPlain(t) ? t : Reordered(t, 0));
      arranged.push_back(std::move(plain));
    }
    in = arranged;
  }
  for (size_t i = 0; i < out.size() && i < g.outputs.size(); ++i) {
    if (out[i].defined()) continue;
    const TensorSpec& spec = g.value(g.outputs[i]).spec;
    FIRN_RETURN_IF_ERROR(AllocateInto(TensorSpec::Contiguous(spec.dtype, spec.shape, spec.device),
                                      AllocTag::kActivation, &out[i]));
  }
  if (parts_->has_first.load(std::memory_order_relaxed) && parts_->has_first.exchange(false)) {
    parts_->first.clear();
  }
  return parts_->executor->Run(in, out);
}

StaticGraph StaticGraph::Replica() const {
  auto replica = std::make_unique<Parts>();
  replica->origin = parts().origin;
  absl::StatusOr<std::unique_ptr<Executor>> executor = parts_->executor->Replica();
  RaiseIfError(executor.status(), "replica");
  replica->executor = *std::move(executor);
  return StaticGraph(std::move(replica));
}

TensorList StaticGraph::Call(absl::Span<const Tensor> in) {
  TensorList out(graph().outputs.size());
  RaiseIfError(Run(in, absl::MakeSpan(out)), "graph");
  return out;
}

void StaticGraph::CheckOneResult() const {
  const size_t results = graph().outputs.size();
  if (results == 1) [[likely]]
    return;
  RaiseStatus(FailedPrecondition("has ", results, " results; use Call or TakeFirstResults"),
              "graph");
}

Tensor StaticGraph::CallForOne(absl::Span<const Tensor> in) {
  CheckOneResult();
  Tensor out;
  RaiseIfError(Run(in, absl::MakeSpan(&out, 1)), "graph");
  return out;
}

bool StaticGraph::StandsAsCaptured() const { return graph().CheckSwitches().ok(); }

TensorList StaticGraph::TakeFirstResults() {
  if (!parts().has_first.exchange(false)) {
    RaiseStatus(FailedPrecondition("what the captured run computed was taken already, forgotten by"
                                   " a run since, or never known: of a graph that was compiled"
                                   " by itself"),
                "graph");
  }
  return std::exchange(parts_->first, {});
}

Tensor StaticGraph::TakeFirst() {
  CheckOneResult();
  return TakeFirstResults()[0];
}

const Graph& StaticGraph::captured() const { return parts().origin->captured; }
const Graph& StaticGraph::graph() const { return parts().executor->graph(); }
const MemoryPlan& StaticGraph::memory() const { return parts().executor->plan(); }

int64_t StaticGraph::device_graph_runs() const { return parts().executor->device_graph_runs(); }

int64_t StaticGraph::operations_aside() const {
  const StreamPlan* streams = parts().executor->streams();
  return streams == nullptr ? 0 : std::count(streams->aside.begin(), streams->aside.end(), true);
}

std::string StaticGraph::Explain() const {
  const Parts& p = parts();
  return firn::Explain({p.origin->captured, p.origin->reports, graph(), memory(),
                        p.executor->peak(), p.executor->WhyNotRecorded()});
}

TensorList inner::internal::AsList(Tensor t) { return {std::move(t)}; }
TensorList inner::internal::AsList(TensorList list) { return list; }
TensorList inner::internal::AsList(const std::vector<Tensor>& v) { return {v.begin(), v.end()}; }

StaticGraph inner::internal::CaptureAndCompile(FreezeFn fn, absl::Span<const Tensor> inputs,
                                               const CompileOptions& options) {
  Captured captured = Capture(fn, inputs);
  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(std::move(captured.graph), options);
  RaiseIfError(graph.status(), "freeze");
  graph->parts_->first = std::move(captured.outputs);
  graph->parts_->has_first = true;
  return *std::move(graph);
}

}  // namespace firn

// Binding a lowered graph to kernels, streams and memory: all that is done before the first run.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/executor.h"
#include "firn/autograd/graph/kernel_call.h"
#include "firn/autograd/graph/passes/pass.h"
#include "firn/device/environment.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/tuning.h"

namespace firn {
namespace {

// The first three texts, and how many more there are.
std::string Some(const std::vector<std::string>& texts) {
  constexpr size_t kShown = 3;
  const size_t shown = std::min(texts.size(), kShown);
  const std::string first =
      absl::StrJoin(texts.begin(), texts.begin() + static_cast<ptrdiff_t>(shown), ", ");
  return shown == texts.size() ? first
                               : absl::StrCat(first, " and ", texts.size() - shown, " more");
}

// The condition that KernelContext::alike stands for.
bool OfOneSpec(absl::Span<const Operand> operands) {
  return std::all_of(operands.begin(), operands.end(), [&](const Operand& o) {
    return o.spec != nullptr && o.spec->dtype == operands[0].spec->dtype &&
           inner::SameDenseLayout(*o.spec, *operands[0].spec);
  });
}

// The attribute "group" of a collective operation (device/comm/groups.h).
int64_t GroupOf(const Instr& instr) {
  struct Finder final : AttrVisitor {
    void Field(const char* name, int64_t& value) override {
      if (std::string_view(name) == "group") group = value;
    }
    void Field(const char*, double&) override {}
    void Field(const char*, bool&) override {}
    void Field(const char*, std::string&) override {}
    void Field(const char*, std::vector<int64_t>&) override {}
    int64_t group = 0;
  };
  Finder finder;
  Attrs copy(instr.attrs.ref());  // visitors may write
  instr.attrs.ref().type()->visit(copy.mutable_data(), finder);
  return finder.group;
}

}  // namespace

Executor::Executor(std::shared_ptr<const Graph> graph, size_t modes, const ExecutorOptions& options,
                   const internal::Precision& precision)
    : shared_graph_(std::move(graph)),
      modes_(modes),
      options_(options),
      precision_(precision),
      input_of_buffer_(graph_.buffers.size(), -1) {
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const auto buffer = static_cast<size_t>(graph_.value(graph_.inputs[i]).buffer);
    input_of_buffer_[buffer] = static_cast<int64_t>(i);
  }
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Make(Graph graph,
                                                         const ExecutorOptions& options) {
  FIRN_RETURN_IF_ERROR(graph.Verify());
  const auto states = std::stable_partition(graph.switches.begin(), graph.switches.end(),
                                            [](const Switch& s) { return !s.kept.defined(); });
  const auto modes = static_cast<size_t>(states - graph.switches.begin());
  auto executor = std::unique_ptr<Executor>(new Executor(
      std::make_shared<const Graph>(std::move(graph)), modes, options, internal::Precision::Now()));
  FIRN_RETURN_IF_ERROR(executor->Bind());
  executor->FindLeftGradients();
  return executor;
}

absl::Status Executor::Bind() {
  operands_.clear();
  steps_.clear();
  patches_.clear();
  states_.clear();
  recordings_.reset();
  threads_ = 0;  // until all of it has worked: the next run tries again
  const int threads = NumThreads();
  if (prepared_ == nullptr || prepared_threads_ != threads) {
    FIRN_RETURN_IF_ERROR(PrepareKernels());
    prepared_threads_ = threads;
  }
  collective_ = std::any_of(graph_.instrs.begin(), graph_.instrs.end(),
                            [](const Instr& instr) { return instr.op->collective; });
  groups_ = GroupsToMeet();
  const std::optional<Device> cuda = CudaDevice();
  side_ = cuda && options_.side_stream ? MakeSideStream(*cuda) : nullptr;
  absl::Status planned = PlanArena();
  if (absl::IsResourceExhausted(planned) && side_ != nullptr) {
    side_.reset();
    planned = PlanArena();
  }
  FIRN_RETURN_IF_ERROR(planned);
  FIRN_RETURN_IF_ERROR(BindStates());
  BindOperands();
  if (cuda && WhyNotRecorded().empty()) recordings_.emplace(*cuda);
  threads_ = threads;
  return absl::OkStatus();
}

absl::Status Executor::PrepareKernels() {
  const TuningScope tuning(options_.autotune);
  std::vector<Prepared> prepared(graph_.instrs.size());
  for (size_t i = 0; i < prepared.size(); ++i) {
    const Instr& instr = graph_.instrs[i];
    if (instr.op->is_view) continue;
    FIRN_RETURN_IF(instr.kernel == nullptr,
                   Internal(Describe(instr), " has no kernel: the graph is not lowered"));
    const KernelCall call(graph_, instr);
    FIRN_ASSIGN_OR_RETURN(prepared[i], call.Ask(*instr.kernel));
    FIRN_RETURN_IF_ERROR(call.CheckLayouts(prepared[i]));
  }
  prepared_ = std::make_shared<const std::vector<Prepared>>(std::move(prepared));
  return absl::OkStatus();
}

std::optional<Device> Executor::CudaDevice() const {
  std::optional<Device> device;
  for (const Instr& instr : graph_.instrs) {
    if (instr.kernel == nullptr) continue;
    const Device here = KernelCall(graph_, instr).device();
    if (!here.is_cuda() || (device && *device != here)) return std::nullopt;
    device = here;
  }
  return device;
}

// In the order of the first calls, which is that of the other ranks.
std::vector<std::pair<int64_t, Device>> Executor::GroupsToMeet() const {
  std::vector<std::pair<int64_t, Device>> groups;
  if (!collective_ || !env::RecordCollectives()) return groups;
  for (const Instr& instr : graph_.instrs) {
    if (!instr.op->collective || instr.kernel == nullptr) continue;
    const std::pair<int64_t, Device> here = {GroupOf(instr), KernelCall(graph_, instr).device()};
    if (!here.second.is_cuda()) continue;
    if (std::find(groups.begin(), groups.end(), here) == groups.end()) groups.push_back(here);
  }
  return groups;
}

// Kernels that cannot be recorded may do more than queue work on the given stream, and those of
// collective operations are ordered with the device's own stream.
std::unique_ptr<SideStream> Executor::MakeSideStream(Device device) const {
  std::vector<bool> may_go_aside;
  for (const Instr& instr : graph_.instrs) {
    may_go_aside.push_back(instr.kernel != nullptr && instr.kernel->graph_capturable &&
                           !instr.op->collective);
  }
  return SideStream::Make(device, PlanStreams(graph_, may_go_aside));
}

std::string Executor::WhyNotRecorded() const {
  if (steps_.empty()) return "there is nothing to run";
  std::optional<Device> device;  // the first CUDA device
  std::vector<std::pair<Device, const Instr*>> calls;
  for (const Instr& instr : graph_.instrs) {
    if (instr.kernel == nullptr) continue;
    calls.emplace_back(KernelCall(graph_, instr).device(), &instr);
    if (calls.back().first.is_cuda() && !device) device = calls.back().first;
  }
  if (!device) return "it does not run on a CUDA device";
  std::vector<std::string> elsewhere, unrecordable;
  for (const auto& [here, instr] : calls) {
    if (here == *device) continue;
    elsewhere.push_back(absl::StrCat(Describe(*instr), " on ", here.ToString()));
  }
  if (!elsewhere.empty()) {
    return absl::StrCat("not all of it runs on ", device->ToString(), ": ", Some(elsewhere));
  }
  // NCCL wants a call recorded on all ranks or on none; addresses, which decide when a run is
  // recorded, are each rank's own. Ranks of one group can agree.
  if (collective_ && groups_.empty()) {
    return "it calls other ranks, which would have to record the same runs"
           " (FIRN_RECORD_COLLECTIVES=1 says that all of them run it together)";
  }
  if (groups_.size() > 1) return "it calls the ranks of several groups";
  for (const Step& step : steps_) {
    if (step.instr->op->collective) continue;
    if (!step.instr->kernel->graph_capturable) unrecordable.push_back(Describe(*step.instr));
  }
  if (!unrecordable.empty()) {
    return absl::StrCat("the device waits for the host in ", Some(unrecordable));
  }
  // Here the host waits for every kernel, which a recording does not allow.
  if (env::SyncAfterLaunch()) return "FIRN_SYNC_AFTER_LAUNCH is set";
  return recordings_ ? recordings_->failure() : "";
}

absl::Status Executor::PlanArena() {
  const auto count = static_cast<int64_t>(graph_.instrs.size());
  std::vector<ArenaPiece> pieces;
  const StreamPlan streams = side_ ? side_->plan() : StreamPlan();
  const std::vector<Lifespan> spans = LifespansOn(graph_, streams);
  const std::vector<size_t> until = InUseUntil(streams);
  temp_pieces_.clear();
  workspace_pieces_.clear();
  for (size_t b = 0; b < spans.size(); ++b) {
    const Buffer& buffer = graph_.buffers[b];
    const bool temp = buffer.kind == Buffer::Kind::kTemp && spans[b].named();
    temp_pieces_.push_back(temp ? static_cast<int64_t>(pieces.size()) : -1);
    if (!temp) continue;
    pieces.push_back(
        {{buffer.bytes, static_cast<int64_t>(spans[b].first), static_cast<int64_t>(spans[b].last)},
         buffer.device});
  }
  const size_t first_workspace = pieces.size();
  for (int64_t step = 0; step < count; ++step) {
    const auto bytes = static_cast<int64_t>((*prepared_)[static_cast<size_t>(step)].workspace);
    workspace_pieces_.push_back(bytes == 0 ? -1 : static_cast<int64_t>(pieces.size()));
    if (bytes == 0) continue;
    const KernelCall call(graph_, graph_.instrs[static_cast<size_t>(step)]);
    const auto last = side_ ? static_cast<int64_t>(until[static_cast<size_t>(step)]) : step;
    pieces.push_back({{bytes, step, last}, call.device()});
  }
  FIRN_RETURN_IF_ERROR(arenas_.Make(pieces, options_.max_arena_bytes));
  arena_untouched_ = true;
  FindPeak(pieces, first_workspace);
  return absl::OkStatus();
}

void Executor::FindPeak(absl::Span<const ArenaPiece> pieces, size_t first_workspace) {
  peak_.clear();
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Lifetime& life = pieces[i].life;
    if (pieces[i].device != arenas_.main_device()) continue;
    if (life.first > plan().peak_step || life.last < plan().peak_step) continue;
    peak_.push_back({life.bytes, static_cast<size_t>(life.first), i >= first_workspace});
  }
  std::stable_sort(peak_.begin(), peak_.end(),
                   [](const MemoryUse& a, const MemoryUse& b) { return a.bytes > b.bytes; });
}

absl::Status Executor::BindStates() {
  state_of_buffer_.assign(graph_.buffers.size(), -1);
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    const Value& v = graph_.values[id];
    if (!v.bound.defined()) continue;
    int64_t& state = state_of_buffer_[static_cast<size_t>(v.buffer)];
    if (state >= 0) continue;
    state = static_cast<int64_t>(states_.size());
    states_.push_back({static_cast<ValueId>(id), nullptr, {}, false});
    FIRN_ASSIGN_OR_RETURN(states_.back().data, Find(states_.back()));
  }
  return absl::OkStatus();
}

char* Executor::PlaceOf(ValueId id) const {
  const Value& v = graph_.value(id);
  const auto buffer = static_cast<size_t>(v.buffer);
  switch (graph_.buffers[buffer].kind) {
    case Buffer::Kind::kTemp:
      return arenas_.place(static_cast<size_t>(temp_pieces_[buffer])) + v.offset;
    case Buffer::Kind::kState:
    case Buffer::Kind::kConstant:
      return states_[static_cast<size_t>(state_of_buffer_[buffer])].data + v.offset;
    case Buffer::Kind::kInput:
      break;
  }
  return nullptr;
}

void Executor::BindOperands() {
  size_t total = 0;
  for (const Instr& instr : graph_.instrs) total += instr.in.size() + instr.out.size();
  operands_.reserve(total);
  const auto bind = [&](ValueId id, bool written) {
    const size_t at = operands_.size();
    operands_.emplace_back();
    if (id == kNoValue) return;
    const Value& v = graph_.value(id);
    const auto buffer = static_cast<size_t>(v.buffer);
    operands_[at] = {PlaceOf(id), &v.spec};
    if (const int64_t input = InputOf(id); input >= 0) {
      const auto from = static_cast<size_t>(input);
      patches_.push_back({at, from, v.offset - graph_.value(graph_.inputs[from]).offset});
    } else if (state_of_buffer_[buffer] >= 0) {
      StatePlace& state = states_[static_cast<size_t>(state_of_buffer_[buffer])];
      state.operands.emplace_back(at, v.offset);
      state.written |= written;
    }
  };
  for (size_t i = 0; i < graph_.instrs.size(); ++i) {
    const Instr& instr = graph_.instrs[i];
    if (instr.kernel == nullptr) continue;
    const size_t first = operands_.size();
    for (size_t j = 0; j < instr.in.size(); ++j) bind(instr.in[j], instr.op->writes(j));
    const size_t results = operands_.size();
    for (ValueId id : instr.out) bind(id, true);
    if (!Computes(graph_, instr)) continue;
    const Prepared& prepared = (*prepared_)[i];
    void* workspace = workspace_pieces_[i] < 0
                          ? nullptr
                          : arenas_.place(static_cast<size_t>(workspace_pieces_[i]));
    steps_.push_back(
        {prepared.run, &instr,
         KernelContext({operands_.data() + first, results - first},
                       {operands_.data() + results, operands_.size() - results}, instr.attrs.ref(),
                       workspace, OfOneSpec(absl::MakeConstSpan(operands_).subspan(first))),
         instr.op->index_bounds != nullptr && instr.kernel->device == DeviceType::kCpu});
    steps_.back().context.set_state(prepared.state.get());
  }
}

}  // namespace firn

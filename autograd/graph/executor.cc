// Binding a lowered graph to memory and kernels, and running it.
//
// Operands of all steps stand in one array, so that the contexts of the kernels are made once and
// see new addresses of inputs and states where those are written into the array.

#include "autograd/graph/executor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "autograd/graph/analysis.h"
#include "autograd/graph/execution_observer.h"
#include "autograd/graph/kernel_call.h"
#include "device/environment.h"
#include "device/parallel.h"
#include "device/status_macros.h"
#include "tensor/dispatch.h"
#include "tensor/internal/apply_checks.h"
#include "tensor/reorder.h"
#include "tensor/tuning.h"

namespace firn {
namespace {

struct Bytes {
  const char* begin;
  size_t size;
};
// Of a contiguous tensor.
Bytes BytesOf(const Tensor& t) { return {t.impl()->data, t.spec().bytes()}; }

bool Overlap(const Bytes& a, const Bytes& b) {
  return a.size != 0 && b.size != 0 && a.begin < b.begin + b.size && b.begin < a.begin + a.size;
}

// `status` with where it happened.
absl::Status At(const Instr& instr, const absl::Status& status) {
  const std::string path(instr.module_path());
  return absl::Status(status.code(),
                      absl::StrCat(std::string(instr.op->name), path.empty() ? "" : " at ", path,
                                   ": ", status.message()));
}

}  // namespace

Executor::Executor(Graph graph, int64_t max_arena_bytes, bool autotune)
    : graph_(std::move(graph)),
      max_arena_bytes_(max_arena_bytes),
      autotune_(autotune),
      input_of_buffer_(graph_.buffers.size(), -1) {
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const auto buffer = static_cast<size_t>(graph_.value(graph_.inputs[i]).buffer);
    input_of_buffer_[buffer] = static_cast<int64_t>(i);
  }
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Make(Graph graph, int64_t max_arena_bytes,
                                                         bool autotune) {
  FIRN_RETURN_IF_ERROR(graph.Verify());
  auto executor =
      std::unique_ptr<Executor>(new Executor(std::move(graph), max_arena_bytes, autotune));
  FIRN_RETURN_IF_ERROR(executor->Bind());
  return executor;
}

absl::Status Executor::Bind() {
  kernels_.clear();
  workspaces_.clear();
  temp_pieces_.clear();
  workspace_pieces_.clear();
  operands_.clear();
  steps_.clear();
  patches_.clear();
  states_.clear();
  recordings_.reset();
  threads_ = 0;  // until all of it has worked: the next run tries again
  FIRN_RETURN_IF_ERROR(ChooseKernels());
  FIRN_RETURN_IF_ERROR(PlanArena());
  FIRN_RETURN_IF_ERROR(BindStates());
  BindOperands();
  if (const std::optional<Device> device = RecordableDevice()) recordings_.emplace(*device);
  threads_ = NumThreads();
  return absl::OkStatus();
}

absl::Status Executor::ChooseKernels() {
  const TuningScope tuning(autotune_);
  for (const Instr& instr : graph_.instrs) {
    kernels_.push_back(nullptr);
    workspaces_.push_back(0);
    if (instr.op->is_view) continue;
    const KernelCall call(graph_, instr);
    FIRN_ASSIGN_OR_RETURN(kernels_.back(), call.Select());
    if (kernels_.back()->workspace != nullptr) {
      workspaces_.back() = kernels_.back()->workspace(call.query());
    }
  }
  return absl::OkStatus();
}

absl::Status Executor::PlanArena() {
  const auto count = static_cast<int64_t>(graph_.instrs.size());
  std::vector<ArenaPiece> pieces;
  const std::vector<Lifespan> spans = LifespansOf(graph_);
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
    const auto bytes = static_cast<int64_t>(workspaces_[static_cast<size_t>(step)]);
    workspace_pieces_.push_back(bytes == 0 ? -1 : static_cast<int64_t>(pieces.size()));
    if (bytes == 0) continue;
    const KernelCall call(graph_, graph_.instrs[static_cast<size_t>(step)]);
    pieces.push_back({{bytes, step, step}, call.device()});
  }
  FIRN_RETURN_IF_ERROR(arenas_.Make(pieces, max_arena_bytes_));
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

// All of the work on one CUDA device, by kernels that can be recorded. With FIRN_SYNC_AFTER_LAUNCH
// every kernel is waited for, which a recording does not allow.
std::optional<Device> Executor::RecordableDevice() const {
  if (steps_.empty() || env::SyncAfterLaunch()) return std::nullopt;
  const Device device = KernelCall(graph_, *steps_.front().instr).device();
  const bool all = std::all_of(steps_.begin(), steps_.end(), [&](const Step& step) {
    return step.kernel->graph_capturable && KernelCall(graph_, *step.instr).device() == device;
  });
  return all && device.is_cuda() ? std::optional(device) : std::nullopt;
}

absl::StatusOr<char*> Executor::Find(const StatePlace& state) const {
  const Value& v = graph_.value(state.value);
  const TensorImpl& impl = *v.bound.impl();
  FIRN_RETURN_IF(!impl.storage || !SameSpec(impl.spec, v.spec),
                 FailedPrecondition("a state of the graph was ", v.spec.ToString(), " and is ",
                                    impl.spec.ToString(), " now; capture again"));
  return impl.data - v.offset;
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
    if (kernels_[i] == nullptr) continue;
    const size_t first = operands_.size();
    for (size_t j = 0; j < instr.in.size(); ++j) bind(instr.in[j], Writes(*instr.op, j));
    const size_t results = operands_.size();
    bool work = instr.op->any_inout || instr.out.empty();
    for (ValueId id : instr.out) {
      bind(id, true);
      work |= graph_.value(id).spec.num_elements() != 0;
    }
    if (!work) continue;
    void* workspace = workspace_pieces_[i] < 0
                          ? nullptr
                          : arenas_.place(static_cast<size_t>(workspace_pieces_[i]));
    steps_.push_back(
        {kernels_[i], &instr,
         KernelContext({operands_.data() + first, results - first},
                       {operands_.data() + results, operands_.size() - results}, instr.attrs.ref(),
                       workspace),
         instr.op->index_bounds != nullptr && kernels_[i]->device == DeviceType::kCpu});
  }
}

absl::Status Executor::CheckArguments(absl::Span<const Tensor> in,
                                      absl::Span<const Tensor> out) const {
  const auto check = [&](absl::Span<const Tensor> given, absl::Span<const ValueId> ids,
                         const char* what) -> absl::Status {
    FIRN_RETURN_IF(given.size() != ids.size(), FailedPrecondition("the graph has ", ids.size(), " ",
                                                                  what, "s, got ", given.size()));
    for (size_t i = 0; i < ids.size(); ++i) {
      const TensorSpec& want = graph_.value(ids[i]).spec;
      const bool fits = given[i].defined() && given[i].impl()->storage &&
                        given[i].dtype() == want.dtype && given[i].shape() == want.shape &&
                        given[i].device() == want.device;
      FIRN_RETURN_IF(
          !fits || !given[i].is_contiguous(),
          FailedPrecondition(
              what, " ", i, " of the graph is ",
              TensorSpec::Contiguous(want.dtype, want.shape, want.device).ToString(), ", got ",
              given[i].defined() ? given[i].spec().ToString() : "an undefined tensor"));
    }
    return absl::OkStatus();
  };
  FIRN_RETURN_IF_ERROR(check(in, graph_.inputs, "input"));
  return check(out, graph_.outputs, "output");
}

// What a run writes must not be what it reads as something else.
absl::Status Executor::CheckMemory(absl::Span<const Tensor> in,
                                   absl::Span<const Tensor> out) const {
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t j = 0; j < in.size(); ++j) {
      FIRN_RETURN_IF(Overlap(BytesOf(out[i]), BytesOf(in[j])),
                     FailedPrecondition("output ", i, " shares its memory with input ", j,
                                        "; give it memory of its own"));
    }
    for (size_t j = 0; j < i; ++j) {
      FIRN_RETURN_IF(Overlap(BytesOf(out[i]), BytesOf(out[j])),
                     FailedPrecondition("outputs ", j, " and ", i, " share their memory"));
    }
  }
  for (const StatePlace& state : states_) {
    const Tensor& t = graph_.value(state.value).bound;
    const Bytes held = {static_cast<const char*>(t.impl()->storage->data()),
                        t.impl()->storage->bytes()};
    for (size_t i = 0; i < in.size() && state.written; ++i) {
      FIRN_RETURN_IF(Overlap(BytesOf(in[i]), held),
                     FailedPrecondition("input ", i, " shares its memory with a state ",
                                        t.spec().ToString(), " that the graph changes"));
    }
    for (size_t i = 0; i < out.size(); ++i) {
      FIRN_RETURN_IF(Overlap(BytesOf(out[i]), held),
                     FailedPrecondition("output ", i, " shares its memory with a state ",
                                        t.spec().ToString(), " of the graph"));
    }
  }
  return absl::OkStatus();
}

// A tensor may have got other memory since the last run.
absl::Status Executor::RefreshStates() {
  for (StatePlace& state : states_) {
    const Value& v = graph_.value(state.value);
    const TensorImpl& impl = *v.bound.impl();
    if (impl.data == state.data + v.offset && impl.spec.dtype == v.spec.dtype) [[likely]]
      continue;
    FIRN_ASSIGN_OR_RETURN(state.data, Find(state));
    for (const auto& [operand, offset] : state.operands) {
      operands_[operand].data = state.data + offset;
    }
  }
  return absl::OkStatus();
}

absl::Status Executor::CheckGradients() const {
  for (const GradientEffect& e : graph_.gradients) {
    FIRN_RETURN_IF(
        e.expected && !e.leaf.grad().Is(graph_.value(e.value).bound),
        FailedPrecondition("the gradient of a leaf ", e.leaf.spec().ToString(),
                           ", which the captured run found there, has been cleared or replaced;"
                           " capture what computes it as well"));
  }
  return absl::OkStatus();
}

absl::Status Executor::RunStep(Step& step) {
  if (step.check_indices) [[unlikely]] {
    const KernelCall call(graph_, *step.instr);
    FIRN_RETURN_IF_ERROR(
        internal::CheckIndices(*step.instr->op, call.query(), step.context.operands_in()));
  }
  return step.kernel->run(step.context);
}

absl::Status Executor::RunSteps() {
  for (Step& step : steps_) {
    absl::Status status = RunStep(step);
    if (!status.ok()) [[unlikely]]
      return At(*step.instr, status);
  }
  return absl::OkStatus();
}

absl::Status Executor::RunRecorded() {
  addresses_.clear();
  for (const Patch& p : patches_)
    addresses_.push_back(static_cast<char*>(operands_[p.operand].data));
  for (const StatePlace& state : states_) addresses_.push_back(state.data);
  return recordings_->Run(addresses_, [&] { return RunSteps(); });
}

// A loop of its own: the other one asks nobody.
absl::Status Executor::RunObservedSteps() {
  std::vector<ExecutionObserver*> observers;  // innermost first
  for (auto* s = ExecutionObserverScope::Innermost(); s != nullptr; s = s->outer()) {
    observers.push_back(&s->observer());
  }
  for (Step& step : steps_) {
    const ExecutionStep shown{*step.instr, step.context.operands_in(), step.context.operands_out()};
    for (auto it = observers.rbegin(); it != observers.rend(); ++it) {
      FIRN_RETURN_IF_ERROR((*it)->BeforeStep(shown));
    }
    absl::Status status = RunStep(step);
    if (!status.ok()) return At(*step.instr, status);
    for (ExecutionObserver* o : observers) FIRN_RETURN_IF_ERROR(o->AfterStep(shown));
  }
  return absl::OkStatus();
}

void Executor::LeaveGradients() {
  static const Tensor none;
  for (GradientEffect& e : graph_.gradients) {
    const Tensor& grad = e.value == kNoValue ? none : graph_.value(e.value).bound;
    if (!e.leaf.grad().Is(grad)) e.leaf.SetGrad(grad);
  }
}

absl::Status Executor::Run(absl::Span<const Tensor> in, absl::Span<const Tensor> out) {
  FIRN_RETURN_IF(ThisThread().capture != nullptr,
                 FailedPrecondition("a graph runs while another is captured, which would not see"
                                    " it; call the function that it was captured from"));
  FIRN_RETURN_IF_ERROR(CheckArguments(in, out));
  if (NumThreads() != threads_) FIRN_RETURN_IF_ERROR(Bind());
  FIRN_RETURN_IF_ERROR(RefreshStates());
  FIRN_RETURN_IF_ERROR(CheckMemory(in, out));
  FIRN_RETURN_IF_ERROR(CheckGradients());
  for (const Patch& p : patches_) operands_[p.operand].data = in[p.input].impl()->data + p.offset;
  // Before the steps, because a run that fails has changed some of them.
  for (StatePlace& state : states_) {
    if (state.written) graph_.value(state.value).bound.impl()->storage->BumpVersion();
  }
  const bool observed = ExecutionObserverScope::Innermost() != nullptr;
  FIRN_RETURN_IF_ERROR(observed ? RunObservedSteps() : recordings_ ? RunRecorded() : RunSteps());
  for (size_t i = 0; i < out.size(); ++i) {
    const Value& v = graph_.value(graph_.outputs[i]);
    const char* from = PlaceOf(graph_.outputs[i]);
    if (from == nullptr) {
      const auto input = static_cast<size_t>(InputOf(graph_.outputs[i]));
      from = in[input].impl()->data + (v.offset - graph_.value(graph_.inputs[input]).offset);
    }
    FIRN_RETURN_IF_ERROR(CopyElements(v.spec, from, out[i].spec(), out[i].impl()->data));
    out[i].impl()->storage->BumpVersion();
  }
  LeaveGradients();
  return absl::OkStatus();
}

}  // namespace firn

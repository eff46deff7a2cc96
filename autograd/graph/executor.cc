// Running a graph that was bound (executor_bind.cc).
//
// Operands of all steps stand in one array, so that the contexts of the kernels are made once: new
// addresses of inputs and states are written into the array.

#include "firn/autograd/graph/executor.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/execution_observer.h"
#include "firn/autograd/graph/kernel_call.h"
#include "firn/device/comm/device_ranks.h"
#include "firn/device/comm/groups.h"
#include "firn/device/comm/recorded_runs.h"
#include "firn/device/comm/started.h"
#include "firn/device/cpu_allocator.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/internal/apply_checks.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/storage.h"

namespace firn {
namespace {

struct Bytes {
  const char* begin;
  size_t size;
};
// The bytes of a contiguous tensor.
Bytes BytesOf(const Tensor& t) { return {t.impl()->data, t.spec().bytes()}; }

// All that its storage has.
Bytes BytesHeld(const Tensor& t) {
  return {static_cast<const char*>(t.impl()->storage->data()), t.impl()->storage->bytes()};
}

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

absl::Status Executor::CheckArguments(absl::Span<const Tensor> in,
                                      absl::Span<const Tensor> out) const {
  const auto check = [&](absl::Span<const Tensor> given, absl::Span<const ValueId> ids,
                         const char* what) -> absl::Status {
    FIRN_RETURN_IF(given.size() != ids.size(),
                   FailedPrecondition("the graph has ", ids.size(), " ", what,
                                      ids.size() == 1 ? ", got " : "s, got ", given.size()));
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

// A walk in the order of addresses: a piece overlaps an earlier one only if it begins before the
// furthest end so far. This says that there is an overlap; only comparing all pairs says between
// which tensors, which CheckMemory does afterwards.
bool Executor::AnyOverlap(absl::Span<const Tensor> in, absl::Span<const Tensor> out) const {
  enum Kind : size_t { kIn, kOut, kRead, kWritten };
  constexpr bool kMayNot[4][4] = {{false, true, false, true},
                                  {true, true, true, true},
                                  {false, true, false, false},
                                  {true, true, false, false}};
  std::vector<std::pair<Bytes, Kind>> all;
  for (const Tensor& t : in) all.emplace_back(BytesOf(t), kIn);
  for (const Tensor& t : out) all.emplace_back(BytesOf(t), kOut);
  for (const StatePlace& state : states_) {
    all.emplace_back(BytesHeld(graph_.value(state.value).bound), state.written ? kWritten : kRead);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::less<const char*>()(a.first.begin, b.first.begin);
  });
  const char* ends[4] = {};
  for (const auto& [bytes, kind] : all) {
    if (bytes.size == 0) continue;
    for (size_t other = 0; other < 4; ++other) {
      if (kMayNot[kind][other] && ends[other] > bytes.begin) return true;
    }
    ends[kind] = std::max(ends[kind], bytes.begin + bytes.size);
  }
  return false;
}

// What a run writes must not be what it reads as something else.
absl::Status Executor::CheckMemory(absl::Span<const Tensor> in,
                                   absl::Span<const Tensor> out) const {
  constexpr size_t kManyPairs = 4096;
  const size_t pairs =
      out.size() * (in.size() + out.size() + states_.size()) + in.size() * states_.size();
  if (pairs > kManyPairs && !AnyOverlap(in, out)) return absl::OkStatus();
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
    const Bytes held = BytesHeld(t);
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

absl::StatusOr<char*> Executor::Find(const StatePlace& state) const {
  const Value& v = graph_.value(state.value);
  const TensorImpl& impl = *v.bound.impl();
  FIRN_RETURN_IF(!impl.storage || !SameSpec(impl.spec, v.spec),
                 FailedPrecondition("a state of the graph was ", v.spec.ToString(), " and is ",
                                    impl.spec.ToString(), " now; capture again"));
  FIRN_RETURN_IF(impl.storage->parted(),
                 FailedPrecondition("a state of the graph, ", v.spec.ToString(),
                                    ", had several"
                                    " handles, of which one was laid out row-major since (to read"
                                    " it on the host, or for an optimizer) and is another tensor"
                                    " now; capture again"));
  return impl.data - v.offset;
}

// A tensor may have got other memory since the last run.
absl::Status Executor::RefreshStates() {
  for (StatePlace& state : states_) {
    const Value& v = graph_.value(state.value);
    const TensorImpl& impl = *v.bound.impl();
    if (impl.data == state.data + v.offset && impl.spec.dtype == v.spec.dtype &&
        !impl.spec.layout.blocked()) [[likely]]
      continue;
    FIRN_ASSIGN_OR_RETURN(state.data, Find(state));
    for (const auto& [operand, offset] : state.operands) {
      operands_[operand].data = state.data + offset;
    }
  }
  return absl::OkStatus();
}

absl::Status Executor::RunStep(Step& step) {
  if (step.check_indices) [[unlikely]] {
    const KernelCall call(graph_, *step.instr);
    FIRN_RETURN_IF_ERROR(
        internal::CheckIndices(*step.instr->op, call.query(), step.context.operands_in()));
  }
  return step.run(step.context);
}

absl::Status Executor::RunSteps() {
  for (Step& step : steps_) {
    absl::Status status = RunStep(step);
    if (!status.ok()) [[unlikely]]
      return At(*step.instr, status);
  }
  return absl::OkStatus();
}

// A run that fails also ends with the streams joined, since later work may use the same memory.
absl::Status Executor::RunStepsOnTwoStreams() {
  for (Step& step : steps_) {
    const auto at = static_cast<size_t>(step.instr - graph_.instrs.data());
    absl::Status status = side_->Before(at);
    step.context.set_stream(side_->StreamFor(at));
    if (status.ok()) status = RunStep(step);
    step.context.set_stream(nullptr);  // observed runs know one stream
    if (status.ok()) status = side_->After(at);
    if (status.ok()) continue;
    side_->JoinNow().IgnoreError();
    return At(*step.instr, status);
  }
  return side_->Join();
}

void Executor::CollectAddresses() {
  addresses_.clear();
  for (const Patch& p : patches_)
    addresses_.push_back(static_cast<char*>(operands_[p.operand].data));
  for (const StatePlace& state : states_) addresses_.push_back(state.data);
}

absl::Status Executor::RunRecorded() {
  CollectAddresses();
  return recordings_->Run(addresses_, [&] { return QueueSteps(); });
}

// Within a recording, too: what it starts must be done where it ends.
absl::Status Executor::QueueStepsAndWait() {
  const uint64_t started = comm::StartedSoFar();
  absl::Status status = QueueSteps();
  status.Update(comm::WaitForAllSince(started));
  return status;
}

// A rank that records nothing meets the others all the same, since they wait for it.
absl::Status Executor::RunWithRanks(size_t first, bool observed) {
  if (first == groups_.size()) return observed ? RunObservedSteps() : QueueStepsAndWait();
  FIRN_ASSIGN_OR_RETURN(comm::Communicator* const host, comm::FindGroup(groups_[first].first));
  FIRN_ASSIGN_OR_RETURN(comm::Communicator* const there,
                        comm::DeviceRanks(*host, groups_[first].second));
  comm::RecordedRuns* const ranks = comm::RecordedRunsOf(*there);
  const auto queue = [&] { return RunWithRanks(first + 1, observed); };
  const bool records = recordings_ && !observed;
  if (records) CollectAddresses();
  if (ranks == nullptr) return records ? recordings_->Run(addresses_, queue) : queue();
  if (records) return recordings_->RunWithRanks(*ranks, addresses_, queue);
  std::string unused;
  return ranks->Run(nullptr, queue, unused).status();
}

// A loop of its own, so that the ordinary one need not ask for observers.
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

absl::Status Executor::RunAll() {
  const bool observed = ExecutionObserverScope::Innermost() != nullptr;
  if (!groups_.empty()) return RunWithRanks(0, observed);
  return observed ? RunObservedSteps() : recordings_ ? RunRecorded() : QueueSteps();
}

// This happens also when an observer throws: the next run, or the graph's destructor, takes the
// memory.
absl::Status Executor::RunAllAndWait() {
  const uint64_t started = comm::StartedSoFar();
  const absl::Cleanup wait = [started] { comm::WaitForAllSince(started).IgnoreError(); };
  FIRN_RETURN_IF_ERROR(RunAll());
  return comm::WaitForAllSince(started);
}

absl::Status Executor::CheckNotRunning() const {
  FIRN_RETURN_IF(turn_->runner.load(std::memory_order_relaxed) == std::this_thread::get_id(),
                 FailedPrecondition("the graph is running on this thread already; what observes"
                                    " its steps cannot run it"));
  return absl::OkStatus();
}

// Several threads may share one graph: each run waits for the one before, whose memory it needs. A
// thread that is inside a run already (an observer may call Run) would wait for itself.
absl::Status Executor::Run(absl::Span<const Tensor> in, absl::Span<const Tensor> out) {
  FIRN_RETURN_IF_ERROR(CheckNotRunning());
  const std::lock_guard<std::mutex> lock(turn_->mutex);
  turn_->runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
  // Also when an observer throws.
  const absl::Cleanup done = [this] {
    turn_->runner.store(std::thread::id(), std::memory_order_relaxed);
  };
  return RunAlone(in, out);
}

absl::Status Executor::RunAlone(absl::Span<const Tensor> in, absl::Span<const Tensor> out) {
  FIRN_RETURN_IF(ThisThread().capture != nullptr,
                 FailedPrecondition("a graph runs while another is captured, which would not see"
                                    " it; call the function that it was captured from"));
  FIRN_RETURN_IF_ERROR(CheckArguments(in, out));
  const internal::PrecisionScope precision(precision_);
  if (NumThreads() != threads_) FIRN_RETURN_IF_ERROR(Bind());
  // Each parameter may have a switch, so those behind the modes are checked only after some tensor
  // of the program was replaced.
  const uint64_t replacements = Replacements();
  const size_t asked = replacements == replacements_ ? modes_ : graph_.switches.size();
  for (size_t i = 0; i < asked; ++i) {
    if (graph_.switches[i].now() != graph_.switches[i].then) [[unlikely]]
      return graph_.CheckSwitches();
  }
  for (const LeafFlag& f : graph_.leaves) {
    if (f.leaf.requires_grad() != f.then) [[unlikely]]
      return graph_.CheckSwitches();
  }
  replacements_ = replacements;
  FIRN_RETURN_IF_ERROR(CheckGradients());
  FIRN_RETURN_IF_ERROR(RefreshStates());
  FIRN_RETURN_IF_ERROR(CheckMemory(in, out));
  FIRN_ASSIGN_OR_RETURN(const bool moved, TakeGradients());
  if (moved) FIRN_RETURN_IF_ERROR(RefreshStates());
  for (const Patch& p : patches_) operands_[p.operand].data = in[p.input].impl()->data + p.offset;
  // Before the steps, because a run that fails has changed some of them.
  for (StatePlace& state : states_) {
    if (state.written) graph_.value(state.value).bound.impl()->storage->BumpVersion();
  }
  // The arena of a graph that has not run yet is only addresses: what the captured run has left
  // goes back to the system before the pages come.
  const bool dropped = DropFoundGradients(in);
  if (std::exchange(arena_untouched_, false) && dropped && arenas_.main_device().is_cpu()) {
    CpuAllocator().EmptyCache();
  }
  FIRN_RETURN_IF_ERROR(collective_ ? RunAllAndWait() : RunAll());
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

// Note [Calls that wait]
//
// A captured run that fails puts back what it has changed, and for that would keep a copy of every
// parameter and of all that an optimizer keeps for it: more memory than the step itself takes, at
// the one time that decides the size of the process. But a step is nearly always the last thing
// that the captured code does. So a call that does nothing but change states waits for the end of
// the run, when nothing can fail any more, and needs no copies; a run that fails before forgets it.
//
// Nobody sees the difference: a call that reads or writes what waiting calls write, or writes what
// they read, has them run first, with copies, and so has a NoCaptureScope, in which anything may be
// looked at. (Host views, printing and DLPack are refused outside of one.) States that are not
// copied by then need no copy, so each state has at most one, as without waiting.
//
// Only calls that cannot fail may wait (GraphTraits::cannot_fail): of several that run at the end,
// the second must not leave the first one's changes behind.
#include <utility>

#include "firn/autograd/graph/recorder.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/internal/waiting_call.h"

namespace firn {

// A call that writes into what the run has made would hold its arguments for nothing, and a call
// that writes only what was copied already would save nothing.
bool GraphRecorder::ShallWait(const OpDef& op, absl::Span<const TensorRef> in) {
  if (!op.outputs.empty() || !TraitsOf(op).cannot_fail) return false;
  bool saves = false;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!op.writes(i) || !in[i].defined()) continue;
    const auto found = seen_.find(in[i]->impl()->storage.get());
    if (found != seen_.end()) {
      const Seen& seen = found->second;
      const Buffer& buffer = graph_.buffers[static_cast<size_t>(seen.buffer)];
      if (seen.made_here || buffer.kind == Buffer::Kind::kInput) return false;
    }
    saves |= !known_changed_.contains(in[i]->impl());
  }
  return saves;
}

void GraphRecorder::PutOff(const OpDef& op, absl::Span<const TensorRef> in,
                           std::shared_ptr<internal::WaitingCall> call) {
  for (const Tensor& t : call->held()) ++waits_on_[t.impl()->storage.get()].handles;
  Waiting waiting{std::move(call), {}};
  for (size_t i = 0; i < in.size(); ++i) {
    if (!op.writes(i) || !in[i].defined()) continue;
    waiting.written.push_back(*in[i]);
    waits_on_[in[i]->impl()->storage.get()].written = true;
  }
  waiting_.push_back(std::move(waiting));
}

void GraphRecorder::BeforeUse(const Tensor& t, bool writes) {
  const auto on = waits_on_.find(t.impl()->storage.get());
  if (on == waits_on_.end() || !(writes || on->second.written)) return;
  RunWaiting(Undoable::kYes);
}

void GraphRecorder::RunWaiting(Undoable undoable) {
  for (const Waiting& w : waiting_) {
    for (size_t i = 0; undoable == Undoable::kYes && i < w.written.size(); ++i) {
      KeepAsItIs(w.written[i]);
    }
  }
  const std::vector<Waiting> now = std::move(waiting_);
  ForgetWaiting();
  for (const Waiting& w : now) RaiseIfError(w.call->Run(), w.call->op().name);
}

void GraphRecorder::ForgetWaiting() {
  waiting_.clear();
  waits_on_.clear();
}

}  // namespace firn

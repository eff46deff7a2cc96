// The graph with recorders is made at once, so that what cannot be quantized is refused before any
// step. Each phase begins from the graph as it was captured.

#include "firn/autograd/graph/qat_scheduler.h"

#include <utility>

#include "firn/autograd/graph/call.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

constexpr char kWho[] = "QatScheduler";

}  // namespace

QatScheduler::QatScheduler(Graph graph, const QatSchedule& schedule, const QatOptions& options)
    : floating_(std::move(graph)),
      schedule_(schedule),
      options_(options),
      recording_(floating_),
      graph_(floating_) {
  if (schedule.record_at < 0 || schedule.train_at <= schedule.record_at) {
    RaiseStatus(InvalidArgument("expected 0 <= record_at < train_at, got ", schedule.record_at,
                                " and ", schedule.train_at),
                kWho);
  }
  ranges_ = RecordRanges(recording_, options_);
}

bool QatScheduler::Step() {
  const QatPhase before = phase_;
  if (steps_ == schedule_.train_at) {
    Graph rounding = floating_;
    grids_ = FakeQuantizeByRanges(rounding, ranges_, options_);
    graph_ = std::move(rounding);
    phase_ = QatPhase::kTraining;
  } else if (steps_ == schedule_.record_at) {
    graph_ = recording_;
    phase_ = QatPhase::kRecording;
  }
  ++steps_;
  return phase_ != before;
}

TensorList QatScheduler::Call(absl::Span<const Tensor> inputs) const {
  return CallGraph(graph_, inputs);
}

Tensor QatScheduler::operator()(const Tensor& x) const {
  TensorList results = Call({&x, 1});
  if (results.size() != 1) {
    RaiseStatus(FailedPrecondition("the graph has ", results.size(), " outputs; use Call"), kWho);
  }
  return std::move(results[0]);
}

}  // namespace firn

#ifndef FIRN_AUTOGRAD_GRAPH_QAT_SCHEDULER_H_
#define FIRN_AUTOGRAD_GRAPH_QAT_SCHEDULER_H_

#include <cstdint>

#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/qat.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn {

enum class QatPhase : uint8_t { kFloating, kRecording, kTraining };

struct QatSchedule {
  int64_t record_at = 0;  // the step, counted from 0, before which recorders come in
  int64_t train_at = 1;   // and before which rounding takes their place; later than record_at
};

// Training for quantization in three phases (NNabla's QATScheduler): as the graph was captured,
// with recorders, and rounded by what they recorded.
//
//   QatScheduler qat(Capture(net, images).graph, {.record_at = 0, .train_at = 500});
//   for (const auto& [x, y] : loader) {
//     if (qat.Step() && qat.phase() == QatPhase::kTraining) sgd.SetLr(1e-4);
//     sgd.ZeroGrad();
//     CrossEntropy(qat(x), y).Backward();
//     sgd.Step();
//   }
//   absl::StatusOr<Graph> integers = Quantize(qat.graph(), {});
//
// ToEvaluation(qat.graph()) is the graph for validation in each phase. Thread-compatible.
class QatScheduler {
 public:
  // `graph` is a forward pass, captured with the shapes of batches. Throws as RecordRanges, and
  // InvalidArgument unless 0 <= record_at < train_at.
  QatScheduler(Graph graph, const QatSchedule& schedule, const QatOptions& options = {});

  // Call before each step of training. Returns whether another phase begins with this step. Throws
  // FailedPrecondition if rounding is to begin and a range has seen no batch.
  bool Step();

  QatPhase phase() const { return phase_; }
  const Graph& graph() const { return graph_; }  // of this phase
  // The states of the recorders, to be saved beside parameters and for FakeQuantizeByRanges.
  const StateDict& ranges() const { return ranges_; }
  // Scales and zero points, from kTraining on.
  const StateDict& grids() const { return grids_; }

  // CallGraph of this phase's graph; the first for one input and one result.
  Tensor operator()(const Tensor& x) const;
  TensorList Call(absl::Span<const Tensor> inputs) const;

 private:
  const Graph floating_;
  const QatSchedule schedule_;
  const QatOptions options_;
  Graph recording_, graph_;
  StateDict ranges_, grids_;
  QatPhase phase_ = QatPhase::kFloating;
  int64_t steps_ = 0;
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_QAT_SCHEDULER_H_

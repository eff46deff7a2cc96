#ifndef FIRN_AUTOGRAD_GRAPH_QAT_H_
#define FIRN_AUTOGRAD_GRAPH_QAT_H_

// Training for quantization of captured graphs (Jacob et al., 2018): recorders note what numbers
// operations read, then these are rounded as they will be in integers while training goes on.
// QatScheduler (qat_scheduler.h) does one after the other:
//
//   Graph graph = Capture(net, images).graph;        // in training mode, without gradients
//   Graph recording = graph, training = graph;
//   StateDict ranges = RecordRanges(recording);      // run it: CallGraph(recording, batch)
//   FakeQuantizeByRanges(training, ranges);          // train it: CallGraph(training, batch)
//   absl::StatusOr<Graph> integers = Quantize(training, {});

#include <cstdint>
#include <string>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/tensor/state_dict.h"

namespace firn {

// What is noted of numbers: the range that they lie in.
enum class Extremes : uint8_t {
  kMinMax,     // from the smallest to the largest
  kMagnitude,  // as far below 0 as above, by the largest magnitude
  kMax,        // from 0 to the largest: after relu
};

// Over batches the ends of the range are the most extreme ones or, with a decay, moving averages,
// decay * range + (1 - decay) * batch, the first batch as it is. NNabla's MinMaxMinMax, AbsMax and
// MaxMax are {kMinMax}, {kMagnitude}, {kMax}; MinMaxMva and MaxMva have a decay of 0.99.
struct RangeRecorder {
  Extremes extremes = Extremes::kMinMax;
  double decay = 0;  // in [0, 1)
};

// To what a scale is rounded by its logarithm: a power of two, which shifts multiply by. For
// inputs, when Quantize follows: it rounds weights again to 8 bits, by the largest of each channel.
enum class PowerOfTwoScale : uint8_t { kNo, kUp, kNearest, kDown };

struct QatOptions {
  RangeRecorder inputs = {.extremes = Extremes::kMinMax, .decay = 0.99};
  RangeRecorder weights = {.extremes = Extremes::kMagnitude};
  int64_t bits = 8;           // in [2, 8]; of weights, Quantize gives them 8 again
  bool symmetric = false;     // inputs: the zero point is 0 of signed numbers; weights always
  bool narrow_range = false;  // without the lowest number; weights always
  bool per_channel = true;    // each output channel of weights has a scale
  PowerOfTwoScale power_of_two = PowerOfTwoScale::kNo;
  // What these operations read: {"conv2d", "linear", "matmul"}; none: convolutions and linear ones.
  std::vector<std::string> operations = {};
  bool results = false;  // what they give, too
  // Those of these names that none of them comes before (behind) stay: the network's first
  // convolutions and last linear operations with {"conv2d"} and {"linear"}, as NNabla has it.
  std::vector<std::string> skip_first = {}, skip_last = {};
  // Modules that stay, with all that is in them: {"net.conv1"}.
  std::vector<std::string> keep = {};
};

// Puts recorders before the operations that options name, and gives their states, which runs of the
// graph move: "net.conv1.input.low", ".high" (f32, [] or [out]) and ".batches" (i64 []), with
// "weight" and "output" for "input", a number behind these where an operation reads several, and
// the operation's name where no module called it. Weights are what lies outside of the graph and is
// not changed by it; biases are left alone. ToEvaluation takes the recorders out. Throws
// firn::Error: InvalidArgument for options that make no sense and where no operation is left,
// FailedPrecondition for a graph with a backward pass. The graph is then as it was.
StateDict RecordRanges(Graph& graph, const QatOptions& options = {});

// Rounds what the same operations of the same graph, without recorders, read, by the ranges that
// were recorded: by FakeQuantize, whose gradient passes. Scales and zero points stay what they are
// now: states "net.conv1.input.scale" and ".zero_point" of the graph, which are given. Throws as
// RecordRanges, and NotFound for ranges that are missing, FailedPrecondition for those that saw no
// batch or are not finite.
StateDict FakeQuantizeByRanges(Graph& graph, const StateDict& ranges,
                               const QatOptions& options = {});

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_QAT_H_

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

// How a range is taken from the numbers of a batch.
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

// How a scale is rounded to a power of two, by its logarithm, so that shifts can multiply by it.
// When Quantize follows, this matters for inputs alone: Quantize rounds weights again to 8 bits, by
// the largest of each channel.
enum class PowerOfTwoScale : uint8_t { kNo, kUp, kNearest, kDown };

struct QatOptions {
  RangeRecorder inputs = {.extremes = Extremes::kMinMax, .decay = 0.99};
  RangeRecorder weights = {.extremes = Extremes::kMagnitude};
  int64_t bits = 8;           // in [2, 8]; Quantize rounds weights to 8 again
  bool symmetric = false;     // inputs get signed numbers with zero point 0; weights always do
  bool narrow_range = false;  // the lowest number is not used; weights never use it
  bool per_channel = true;    // each output channel of weights has a scale
  PowerOfTwoScale power_of_two = PowerOfTwoScale::kNo;
  // The operations whose inputs are quantized: {"conv2d", "linear", "matmul"}; empty: convolutions
  // and linear ones.
  std::vector<std::string> operations = {};
  bool results = false;  // their results are quantized, too
  // The first (last) operations of these names stay as they are: those whose arguments (results)
  // depend on no other operation of these names (lead to none). {"conv2d"} and {"linear"} leave out
  // a network's first convolutions and last linear operations, as NNabla does.
  std::vector<std::string> skip_first = {}, skip_last = {};
  // Modules that stay as they are, with all modules in them: {"net.conv1"}.
  std::vector<std::string> keep = {};
};

// Puts recorders before the operations that options name, and returns the recorders' states, which
// runs of the graph update: "net.conv1.input.low", ".high" (f32, [] or [out]) and ".batches" (i64
// []), with "weight" and "output" for "input", a number behind these where an operation reads
// several, and the operation's name in place of the module's path where no module called it. A
// weight is an argument that lies outside of the graph and that the graph does not change; biases
// are left alone. ToEvaluation takes the recorders out. Throws firn::Error: InvalidArgument for
// options that make no sense and where no operation is left, FailedPrecondition for a graph with a
// backward pass. The graph is then as it was.
StateDict RecordRanges(Graph& graph, const QatOptions& options = {});

// Rounds the inputs of the same operations, in the same graph without recorders, by the recorded
// ranges. FakeQuantize does it, so gradients pass. Scales and zero points are computed once, here:
// they are states "net.conv1.input.scale" and ".zero_point" of the graph, which are returned.
// Throws as RecordRanges, and NotFound for ranges that are missing, FailedPrecondition for those
// that saw no batch or are not finite.
StateDict FakeQuantizeByRanges(Graph& graph, const StateDict& ranges,
                               const QatOptions& options = {});

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_QAT_H_

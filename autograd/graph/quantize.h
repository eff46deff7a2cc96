#ifndef FIRN_AUTOGRAD_GRAPH_QUANTIZE_H_
#define FIRN_AUTOGRAD_GRAPH_QUANTIZE_H_

// Inference in integers, of a graph that was captured in floating point.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/tensor.h"

namespace firn {

// How the numbers seen decide the range that is quantized (tensor/observers.h).
enum class Calibration : uint8_t {
  kMinMax,      // all of them
  kPercentile,  // without the lowest and highest
  kMse,         // the part that is rounded with the least squared error
};

struct QuantizeGraphOptions {
  Calibration calibration = Calibration::kMinMax;
  double percentile = 99.99;  // of kPercentile: the part of the numbers that is kept
  DType dtype = DType::kU8;   // of the inputs of products beside weights: u8 or i8
  bool symmetric = false;     // the zero point of that is the middle
  // Modules whose products stay floating, with those of all modules in them: {"net.conv1"}.
  std::vector<std::string> keep = {};
};

// The graph in evaluation mode (ToEvaluation), with parameters as they are now, whose products of
// constant weights, those of Conv2d and Linear, are of bytes summed in i32 (Jacob et al., 2018).
// Batch norms are folded into them first. Weights are quantized by the largest of each channel,
// from -127 to 127. Their other factors are quantized by a scale and a zero point that `batches`
// decide: each batch is a list of the graph's inputs, which is run in floating point. A value that
// FakeQuantize rounds to 256 levels or fewer keeps its scale, as training for quantization found
// it, and needs no batches. All other operations compute as before, and results have their dtypes.
//
// Capture the graph in evaluation mode: a layer that moves its range while it trains has no
// constant range. Errors: those of ToEvaluation, of runs on batches that do not fit,
// InvalidArgument where no product can be quantized, weights are not finite, or no number was seen.
absl::StatusOr<Graph> Quantize(const Graph& graph, absl::Span<const TensorList> batches,
                               const QuantizeGraphOptions& options = {});

class StaticGraph;

// The same for what Freeze has captured of one input, calibrated on `batches` of it, and compiled:
//   StaticGraph small = Quantize(frozen, {images});
// Throws firn::Error.
StaticGraph Quantize(const StaticGraph& frozen, const std::vector<Tensor>& batches,
                     const QuantizeGraphOptions& options = {});

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_QUANTIZE_H_

#ifndef FIRN_AUTOGRAD_GRAPH_INTERNAL_WEIGHTS_H_
#define FIRN_AUTOGRAD_GRAPH_INTERNAL_WEIGHTS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"

namespace firn::inner::internal {

// A convolution or linear operation and the weight that it reads.
struct WeightUse {
  size_t at;      // in instrs
  size_t input;   // of the operation: the weight
  Tensor weight;  // [out, ...]
};

// The layers of a graph in the order in which they run. Their weights are f32 or f64, states or
// constants that the graph does not change. `modules`: only layers in these; empty: all layers.
// Errors: FailedPrecondition for a graph with a backward pass, which would go on with the old
// weights.
absl::StatusOr<std::vector<WeightUse>> WeightsOf(const Graph& graph,
                                                 const std::vector<std::string>& modules);

// Whether a module's path is one of `modules` or inside one; true if `modules` is empty.
bool LiesIn(std::string_view path, const std::vector<std::string>& modules);

// "conv2d at net.conv1", or "conv2d" outside of modules.
std::string PlaceOf(const Instr& instr);

}  // namespace firn::inner::internal

#endif  // FIRN_AUTOGRAD_GRAPH_INTERNAL_WEIGHTS_H_

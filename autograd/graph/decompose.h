#ifndef FIRN_AUTOGRAD_GRAPH_DECOMPOSE_H_
#define FIRN_AUTOGRAD_GRAPH_DECOMPOSE_H_

// Layers of a captured graph as products of smaller ones:
//
//   Graph graph = Capture(net, images).graph;
//   Decomposition smaller = Decompose(graph, {.parameters = 0.3});
//   io::SaveGraph("net.firn", graph, {.names = smaller.state});

#include <cstdint>
#include <string>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/tensor/state_dict.h"

namespace firn {

struct DecomposeOptions {
  // At most so much of a layer's weight is left, as numbers in its factors.
  double parameters = 0.5;
  // Only in these modules, such as {"net.fc1"}; empty: in all.
  std::vector<std::string> modules = {};
  // Options of the alternating least squares that convolutions are decomposed by.
  int64_t iterations = 500;
  double tolerance = 1e-5;
  uint64_t seed = 0;
};

struct DecomposedLayer {
  std::string module, operation;       // "net.fc1", "linear"
  int64_t rank = 0;                    // of its factors
  int64_t before = 0, parameters = 0;  // numbers in its weight, and in these
  double error = 0;                    // norm of what they lose of the weight, relative to its norm
};

struct Decomposition {
  std::vector<DecomposedLayer> layers;
  // The factors, which are new states of the graph: "net.fc1.factor.0" and so on.
  StateDict state;
};

// Replaces, in a graph without a backward pass,
//   y = linear(x, W [out, in])         by linear(linear(x, V [rank, in]), U [out, rank]), made of
//     the largest singular values of W, which loses least of W (Eckart and Young, 1936);
//   y = conv(x, W [out, in, kernel])   by a convolution with kernels of size 1 to `rank` channels,
//     one of each channel with a kernel of its own, and one with kernels of size 1 (Lebedev et al.,
//     2015): the canonical polyadic decomposition of W as [out, in, kernel elements]. Only those of
//     one group.
// The rank is the largest one that options.parameters allows; layers that have none, and those
// whose factors would not be smaller, stay as they are. Weights stay what they are for the module
// that was captured; the factors want gradients where those do.
// Throws firn::Error: InvalidArgument for options that make no sense and weights that are not
// finite; FailedPrecondition for a graph with a backward pass. The graph is then as it was.
Decomposition Decompose(Graph& graph, const DecomposeOptions& options = {});

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_DECOMPOSE_H_

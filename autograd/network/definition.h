#ifndef FIRN_AUTOGRAD_NETWORK_DEFINITION_H_
#define FIRN_AUTOGRAD_NETWORK_DEFINITION_H_

// The parts of a network that a file described: nodes, each with a function that turns it into
// operations once the shapes of its inputs are known. Readers of files fill these in, whatever the
// format; Network (autograd/network/network.h) runs them.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/network/port.h"
#include "firn/tensor/tensor.h"

namespace firn::autograd {

// The work of a node in a run: public operations on its inputs (an undefined tensor where one is
// absent), whose results are the node's outputs, in order. Trailing outputs that no node needs may
// be left out. A step may look at shapes but never at elements, since a run may be captured.
using Step = std::function<TensorList(absl::Span<const Tensor> in)>;

class NodeCall;

// Turns a node into a step, for inputs of the shapes that `call` tells. An empty step means that it
// has given the outputs itself. Throws firn::Error if the node does not fit its inputs.
using Lowering = std::function<Step(NodeCall& call)>;

inline constexpr int kNoValue = -1;  // an input or output that is absent

struct NetworkBody;

struct NetworkNode {
  std::string name;                            // of the scope that operations run in
  std::string what;                            // in messages: 'node 3 "conv1" (Conv)'
  std::vector<int> inputs = {}, outputs = {};  // numbers of values
  Lowering lower = nullptr;
  // Networks inside of the node, which `If` and `Loop` run. Their nodes see all values.
  std::vector<std::shared_ptr<const NetworkBody>> bodies = {};
  // Whether two runs on equal inputs may differ, so that no result is known before.
  bool draws = false;
};

// Nodes in an order in which they can run.
struct NetworkBody {
  std::vector<NetworkNode> nodes;
  std::vector<int> inputs, outputs;  // numbers of values
};

struct NetworkDefinition {
  std::string source;  // the file, in messages
  int num_values = 0;  // of the body and of bodies in its nodes, which have numbers of their own
  NetworkBody body;
  std::vector<NetworkPort> inputs, outputs;             // of the body's
  std::vector<std::pair<std::string, int>> parameters;  // their names and values
  std::vector<std::string> buffers;               // the parameters that training does not change
  std::vector<std::pair<int, Tensor>> constants;  // on the CPU
  int64_t max_nodes = 1'000'000;  // the most that one call may run, with those of unrolled loops
};

}  // namespace firn::autograd

#endif  // FIRN_AUTOGRAD_NETWORK_DEFINITION_H_

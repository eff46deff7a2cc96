#ifndef FIRN_TESTS_EXAMPLES_NETWORKS_H_
#define FIRN_TESTS_EXAMPLES_NETWORKS_H_

// The networks of the examples and of `firn train`, captured for inference, for tests of code that
// takes any network.

#include <functional>
#include <string>

#include "firn/autograd/graph/graph.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::testing {

struct Network {
  std::string name;
  inner::Graph graph;
  TensorList inputs, outputs;  // the inputs at the capture, and their results
  StateDict names = {};
};

// Calls `f` with each of them, one after the other.
void ForEachNetwork(const std::function<void(const Network&)>& f);

}  // namespace firn::testing

#endif  // FIRN_TESTS_EXAMPLES_NETWORKS_H_

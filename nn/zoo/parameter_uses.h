#ifndef FIRN_NN_ZOO_PARAMETER_USES_H_
#define FIRN_NN_ZOO_PARAMETER_USES_H_

// Where a captured run uses parameters: the structure of a network, in which their names do not
// matter. For load_by_order.h.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/tensor/state_dict.h"

namespace firn::zoo {

// A parameter as an operation reads it, directly or by views.
struct ParameterRead {
  std::string name;
  int64_t begin = 0;  // of the view's first element in the parameter, in bytes
  TensorSpec spec;    // of the view
};

// An operation that joins data, which depends on inputs, with parameters.
struct ParameterUse {
  std::string operation = {};  // "conv2d"
  // The arguments: "x" is data, "#" a parameter, "c" a constant, "-" none, "mul(#, c)" what is
  // computed of parameters alone. "conv2d(x, #, -)".
  std::string form = {};
  Shape result = {};
  std::vector<ParameterRead> parameters = {};  // for each "#"
  std::vector<std::string> constants = {};     // for each "c" its number in f32, "" for tensors
  // The operation's stride, padding, dilation, groups and eps, as far as it has them, as text.
  std::vector<std::pair<std::string, std::string>> attributes = {};
  // For each "x", how it is made: a use's position from 1, "0" the first input, "input2" the next,
  // "2[1]" the second result of use 2; with operations between them, "mul(sigmoid(2), tanh(1))".
  // Operations that only move elements or convert them are left out; the operands of add and mul
  // are sorted, each as a whole.
  std::vector<std::string> sources = {};
  // "conv2d of conv1/conv/W [64, 3, 7, 7]".
  std::string ToString() const;
};

struct NetworkUses {
  std::vector<ParameterUse> uses;  // in the order in which they run
  ParameterUse results;            // what the graph returns, written as one more use
  std::set<std::string> values;    // the sources of all data
};

// `names` has the tensors that are parameters; other states count as constants. Throws if an
// argument is made of parameters by a formula of more than 100,000 characters.
NetworkUses ParameterUsesOf(const Graph& graph, const StateDict& names);

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_PARAMETER_USES_H_

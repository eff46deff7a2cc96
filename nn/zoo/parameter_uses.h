#ifndef FIRN_NN_ZOO_PARAMETER_USES_H_
#define FIRN_NN_ZOO_PARAMETER_USES_H_

// Where a captured run uses parameters: the structure of a network, in which their names do not
// matter. For load_by_order.h.

#include <cstddef>
#include <cstdint>
#include <string>
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
  // The uses whose results are this one's data, with nothing but other operations between them, as
  // their positions from 1; 0: the inputs. Sorted where operations that commute joined them.
  std::vector<size_t> sources = {};
  // "conv2d of conv1/conv/W [64, 3, 7, 7]".
  std::string ToString() const;
};

// The uses in the order in which they run. `names` has the tensors that are parameters; other
// states count as constants.
std::vector<ParameterUse> ParameterUsesOf(const Graph& graph, const StateDict& names);

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_PARAMETER_USES_H_

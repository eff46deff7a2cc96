#ifndef FIRN_TESTS_EXAMPLES_ZOO_INPUT_H_
#define FIRN_TESTS_EXAMPLES_ZOO_INPUT_H_

#include <string>

#include "firn/nn/zoo/network.h"
#include "firn/tensor/tensor.h"

namespace firn::testing {

// The input that examples/zoo.cc makes for a network from the picture in that file: [1, 3, height,
// width].
Tensor ZooInput(const zoo::Network& network, const std::string& path);

}  // namespace firn::testing

#endif  // FIRN_TESTS_EXAMPLES_ZOO_INPUT_H_

// The program is one file, which is included here after all of its headers. Its flags must stand in
// no namespace.
#include "tests/examples/zoo_input.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "firn/firn.h"
#include "firn/nn/zoo/zoo.h"

#define main ZooMain
#include "examples/zoo.cc"  // NOLINT
#undef main

namespace firn::testing {

Tensor ZooInput(const zoo::Network& network, const std::string& path) {
  return Seen(network, path);
}

}  // namespace firn::testing

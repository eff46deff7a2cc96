#ifndef FIRN_TESTS_NN_GOLDEN_LAYERS_H_
#define FIRN_TESTS_NN_GOLDEN_LAYERS_H_

// Makes the layers that tests/golden/layers has vectors of.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "firn/nn/module.h"
#include "tests/golden/vectors.h"

namespace firn::nn {

struct Made {
  std::unique_ptr<Module> module;
  std::function<Tensor(const Tensor& x, const Tensor& target)> call;
};

// Makes the layer of a case; `deferred`: without the sizes that its input tells.
using Factory = std::function<Made(const testing::GoldenCase& c, bool deferred)>;

// By the name of the file.
const std::map<std::string, Factory>& Factories();

}  // namespace firn::nn

#endif  // FIRN_TESTS_NN_GOLDEN_LAYERS_H_

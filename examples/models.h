#ifndef FIRN_EXAMPLES_MODELS_H_
#define FIRN_EXAMPLES_MODELS_H_

// The networks of //examples:mnist and of the benchmarks, taken from the zoo (nn/zoo/small.h).

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "firn/nn/layer.h"
#include "firn/nn/zoo/small.h"

namespace firn::examples {

using zoo::DeepCnn;
using zoo::DeepCnnOptions;
using zoo::Lenet;
using zoo::Mlp;
using Resnet = zoo::SmallResnet;

// "lenet", "mlp", "resnet" or "deep_cnn" (whose depth is `depth`). InvalidArgument, listing these,
// for another name.
absl::StatusOr<std::unique_ptr<nn::Layer>> MakeModel(const std::string& name, int64_t depth);

}  // namespace firn::examples

#endif  // FIRN_EXAMPLES_MODELS_H_

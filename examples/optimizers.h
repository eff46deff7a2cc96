#ifndef FIRN_EXAMPLES_OPTIMIZERS_H_
#define FIRN_EXAMPLES_OPTIMIZERS_H_

// The optimizers of //examples:mnist and of the benchmarks, by name.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "firn/optim/optimizer.h"

namespace firn::examples {

// "sgd", "momentum" (sgd with momentum 0.9) or "adam". `lr` 0 stands for the optimizer's own: 0.05,
// 0.01 and 0.001. InvalidArgument, listing the names, for another one.
absl::StatusOr<std::unique_ptr<optim::Optimizer>> MakeOptimizer(
    const std::string& name, const optim::ParameterList& parameters, double lr = 0);

}  // namespace firn::examples

#endif  // FIRN_EXAMPLES_OPTIMIZERS_H_

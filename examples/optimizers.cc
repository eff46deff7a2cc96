// The learning rates are those of benchmarks/peers/torch_models.py.
#include "optimizers.h"

#include "firn/device/status_macros.h"
#include "firn/optim/adam.h"
#include "firn/optim/sgd.h"

namespace firn::examples {

absl::StatusOr<std::unique_ptr<optim::Optimizer>> MakeOptimizer(
    const std::string& name, const optim::ParameterList& parameters, double lr) {
  const auto rate = [&](double own) { return lr == 0 ? own : lr; };
  if (name == "sgd") {
    return std::make_unique<optim::Sgd>(parameters, optim::SgdOptions{.lr = rate(0.05)});
  }
  if (name == "momentum") {
    return std::make_unique<optim::Sgd>(parameters,
                                        optim::SgdOptions{.lr = rate(0.01), .momentum = 0.9});
  }
  if (name == "adam") {
    return std::make_unique<optim::Adam>(parameters, optim::AdamOptions{.lr = rate(1e-3)});
  }
  return InvalidArgument("there is no optimizer '", name, "' (want sgd, momentum or adam)");
}

}  // namespace firn::examples

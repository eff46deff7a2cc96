#ifndef FIRN_TESTS_OPTIM_BY_NAME_H_
#define FIRN_TESTS_OPTIM_BY_NAME_H_

// Optimizers by their names, for tests that hold for all of them.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/optim/optimizer.h"
#include "firn/optim/option_samples.h"
#include "firn/optim/registry.h"
#include "firn/tensor/attrs.h"

namespace firn::optim {

using testing::NamedOption;
using testing::NumberVisitor;

// The defaults, lr first.
inline std::vector<NamedOption> OptionsOf(std::string_view name) {
  std::vector<NamedOption> list;
  NumberVisitor visitor([&](std::string_view option, double value) {
    list.push_back({std::string(option), value});
    return value;
  });
  ConfigureOptimizer(name, visitor);
  return list;
}

// An optimizer of that name with these options and the defaults of the others.
inline std::unique_ptr<Optimizer> Make(std::string_view name, const ParameterList& parameters,
                                       const std::vector<NamedOption>& options = {}) {
  NumberVisitor visitor([&](std::string_view option, double value) {
    for (const NamedOption& o : options) {
      if (o.name == option) return o.value;
    }
    return value;
  });
  return ConfigureOptimizer(name, visitor)(parameters);
}

}  // namespace firn::optim

#endif  // FIRN_TESTS_OPTIM_BY_NAME_H_

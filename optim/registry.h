#ifndef FIRN_OPTIM_REGISTRY_H_
#define FIRN_OPTIM_REGISTRY_H_

// Optimizers by their names, for programs that read the name from a file. Each is registered where
// it is defined, and no other list exists:
//
//   FIRN_REGISTER_OPTIMIZER(muon, Muon);

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/device/macros.h"
#include "firn/optim/optimizer.h"
#include "firn/tensor/attrs.h"

namespace firn::optim {

using OptimizerMaker = std::function<std::unique_ptr<Optimizer>(const ParameterList& parameters)>;

// A function that makes optimizers of that name. `options` sees the default options one after the
// other, "lr" first, and may change them. Making one throws firn::Error if the options make no
// sense, as the constructor does. Throws kInvalidArgument for an unknown name, with all names.
//
//   std::unique_ptr<Optimizer> adam = ConfigureOptimizer("adam", reader)(net.named_parameters());
OptimizerMaker ConfigureOptimizer(std::string_view name, inner::AttrVisitor& options);

// All names, sorted: that of the class in small letters, "rmsprop_graves" for RmspropGraves.
std::vector<std::string> OptimizerNames();

}  // namespace firn::optim

namespace firn::inner {

struct OptimizerRegistration {
  using Configure = optim::OptimizerMaker (*)(AttrVisitor& options);
  // Kernels for higher levels of processors repeat the registrations after the program's own, so
  // the first of a name stays.
  OptimizerRegistration(const char* name, Configure configure);
};

template <class Optimizer>
optim::OptimizerMaker ConfigureOptimizerOf(AttrVisitor& visitor) {
  typename Optimizer::Options options;
  visitor.Field("lr", options.lr);
  options.Visit(visitor);
  return [options](const optim::ParameterList& parameters) {
    return std::make_unique<Optimizer>(parameters, options);
  };
}

}  // namespace firn::inner

// A class with an aggregate `Options`, as OptimizerOf has, and a constructor from parameters and
// options. At namespace scope, of any namespace.
#define FIRN_REGISTER_OPTIMIZER(name, ...)                                                     \
  FIRN_BEFORE_GLOBALS static const ::firn::inner::OptimizerRegistration firn_optimizer_##name( \
      #name, ::firn::inner::ConfigureOptimizerOf<__VA_ARGS__>)

#endif  // FIRN_OPTIM_REGISTRY_H_

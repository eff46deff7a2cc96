#ifndef FIRN_OPTIM_REGISTRY_H_
#define FIRN_OPTIM_REGISTRY_H_

// Optimizers by their names, for programs that read from a file which one to take. Each is
// registered where it is defined, and nothing else lists them:
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

// What makes optimizers of that name with the options that `options` leaves: it sees the defaults
// one after the other, "lr" first, and may change them. Making one throws firn::Error where they
// make no sense, as the constructor does. Throws kInvalidArgument, with the names that there are,
// when there is none of this one.
//
//   std::unique_ptr<Optimizer> adam = ConfigureOptimizer("adam", reader)(net.named_parameters());
OptimizerMaker ConfigureOptimizer(std::string_view name, inner::AttrVisitor& options);

// All names, sorted: that of the class in small letters, "rmsprop_graves" for RmspropGraves.
std::vector<std::string> OptimizerNames();

}  // namespace firn::optim

namespace firn::inner {

struct OptimizerRegistration {
  using Configure = optim::OptimizerMaker (*)(AttrVisitor& options);
  // Kernels of higher levels of processors bring their registrations along, after those of the
  // program: the first of a name stays.
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

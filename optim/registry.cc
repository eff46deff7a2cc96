// One table, filled while the program starts and in no order, since each optimizer registers itself
// from its own file. It is made at its first use, never destroyed, and only grows.

#include "firn/optim/registry.h"

#include <map>
#include <mutex>

#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::inner {
namespace {

struct OptimizerRegistry {
  std::mutex lock;  // a library may be opened later
  std::map<std::string, OptimizerRegistration::Configure, std::less<>> by_name;
};

OptimizerRegistry& TheRegistry() {
  static auto* const registry = new OptimizerRegistry;
  return *registry;
}

// Null where there is none.
OptimizerRegistration::Configure Find(std::string_view name) {
  OptimizerRegistry& registry = TheRegistry();
  const std::lock_guard<std::mutex> guard(registry.lock);
  const auto found = registry.by_name.find(name);
  return found == registry.by_name.end() ? nullptr : found->second;
}

}  // namespace

OptimizerRegistration::OptimizerRegistration(const char* name, Configure configure) {
  OptimizerRegistry& registry = TheRegistry();
  const std::lock_guard<std::mutex> guard(registry.lock);
  registry.by_name.emplace(name, configure);
}

}  // namespace firn::inner

namespace firn::optim {

std::vector<std::string> OptimizerNames() {
  inner::OptimizerRegistry& registry = inner::TheRegistry();
  const std::lock_guard<std::mutex> guard(registry.lock);
  std::vector<std::string> names;
  for (const auto& [name, configure] : registry.by_name) names.push_back(name);
  return names;
}

OptimizerMaker ConfigureOptimizer(std::string_view name, inner::AttrVisitor& options) {
  const auto configure = inner::Find(name);
  if (configure != nullptr) return configure(options);
  RaiseStatus(InvalidArgument("there is no optimizer '", name, "'",
                              inner::internal::InsteadOf(name, OptimizerNames())),
              "optimizer");
}

}  // namespace firn::optim

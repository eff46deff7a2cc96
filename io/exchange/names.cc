// The registry of names is one list: pages register before main starts, on one thread, and it never
// changes afterwards. It outlives all other global objects, since their destructors may use it.

#include "firn/io/exchange/names.h"

#include <utility>
#include <vector>

namespace firn::io::internal {
namespace {

std::vector<FunctionNames>& Registry() {
  static auto* const registry = new std::vector<FunctionNames>;
  return *registry;
}

}  // namespace

absl::Span<const FunctionNames> AllFunctionNames() { return Registry(); }

NamesRegistration::NamesRegistration(std::string_view function, NamesElsewhere elsewhere) {
  Registry().push_back({function, std::move(elsewhere)});
}

}  // namespace firn::io::internal

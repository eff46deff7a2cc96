#include "tensor/kernels/cuda/scalar_code.h"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <utility>

namespace firn::cuda {
namespace {

// Made when the first kernel is registered, which is before other global objects. Afterwards it is
// only read.
std::map<KernelRun, ScalarCode>& Codes() {
  static auto* const codes = new std::map<KernelRun, ScalarCode>;
  return *codes;
}

}  // namespace

std::string TypeName(const std::type_info& type) {
  int status = 0;
  char* const name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string text = status == 0 ? name : type.name();
  std::free(name);
  return text;
}

void AddScalarCode(KernelRun run, ScalarCode code) { Codes()[run] = std::move(code); }

const ScalarCode* FindScalarCode(KernelRun run) {
  const auto at = Codes().find(run);
  return at == Codes().end() ? nullptr : &at->second;
}

}  // namespace firn::cuda

// Replacements in a bundled program for code that it leaves out. See `link`.
#include "tools/bundled/missing.h"

#include <dlfcn.h>

#include <cstdlib>
#include <ios>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::bundled {

void Missing(const char* function) {
  RaiseStatus(FailedPrecondition(function, " is not part of this program"), "bundle");
}

}  // namespace firn::bundled

// Every source that includes <iostream> calls this first; here there are no streams to make.
std::ios_base::Init::Init() {}
std::ios_base::Init::~Init() {}

namespace __gnu_cxx {
// Would print the name of the exception; main catches all that there are.
void __verbose_terminate_handler() { std::abort(); }
}  // namespace __gnu_cxx

// A static program loads no libraries. OpenMP would look for those of accelerators, Firn for those
// of CUDA.
extern "C" {
void* dlopen(const char*, int) noexcept { return nullptr; }
void* dlsym(void*, const char*) noexcept { return nullptr; }
int dlclose(void*) noexcept { return 0; }
char* dlerror() noexcept {
  static char text[] = "a bundled program loads no libraries";
  return text;
}
}

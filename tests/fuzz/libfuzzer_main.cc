// Under clang's libFuzzer, which has a main function of its own. The environment variable
// FIRN_FUZZ_READER names the reader. g++ tells of coverage by a call per block, which libFuzzer
// knows only to refuse it: the function here stands in for that, and counts by a hash of the
// caller's address in counters as libFuzzer wants them.
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/targets.h"

extern "C" void __sanitizer_cov_8bit_counters_init(uint8_t* start, uint8_t* stop);

namespace {

uint8_t counters[1 << 16];

using Target = int (*)(const uint8_t*, size_t);

Target Chosen() {
  using namespace firn::io;
  struct Named {
    std::string_view name;
    Target target;
  };
  constexpr Named kTargets[] = {{"image", FuzzImage},
                                {"npy", FuzzNpy},
                                {"npz", FuzzNpz},
                                {"wav", FuzzWav},
                                {"idx", FuzzIdx},
                                {"csv", FuzzCsv},
                                {"hdf5", FuzzHdf5},
                                {"cifar", FuzzCifar},
                                {"graph", FuzzGraph},
                                {"csv_rows", FuzzCsvRows},
                                {"nnabla_cache", FuzzNnablaCache},
                                {"checkpoint", FuzzCheckpoint}};
  const char* wanted = std::getenv("FIRN_FUZZ_READER");
  for (const Named& t : kTargets) {
    if (wanted == nullptr || t.name == wanted) return t.target;
  }
  std::abort();
}

}  // namespace

extern "C" void __sanitizer_cov_trace_pc() {
  const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  ++counters[(pc ^ pc >> 16) & (sizeof(counters) - 1)];
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  __sanitizer_cov_8bit_counters_init(counters, counters + sizeof(counters));
  return 0;
}

// g++ tells of comparisons of floats too, clang does not.
extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Target target = Chosen();
  return target(data, size);
}

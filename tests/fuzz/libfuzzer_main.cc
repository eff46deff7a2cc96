// Runs a reader under libFuzzer of clang, which has a main function of its own. g++ reports
// coverage by a call for each block, which libFuzzer only refuses. The function here takes these
// calls and counts them, by a hash of the caller's address, in counters of the form that libFuzzer
// wants.
//
// FIRN_FUZZ_READER: the reader that libFuzzer's main function calls.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/reader.h"

extern "C" void __sanitizer_cov_8bit_counters_init(uint8_t* start, uint8_t* stop);

namespace {

uint8_t counters[1 << 16];

firn::testing::FuzzTarget Chosen() {
  const auto& readers = firn::testing::FuzzReaders();
  const char* wanted = std::getenv("FIRN_FUZZ_READER");
  const auto found = readers.find(wanted != nullptr ? wanted : "");
  if (found != readers.end()) return found->second.target;
  std::fprintf(stderr, "FIRN_FUZZ_READER has to be one of:");
  for (const auto& [name, reader] : readers) std::fprintf(stderr, " %s", name.c_str());
  std::fprintf(stderr, "\n");
  std::exit(1);
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

// g++ also reports comparisons of floats; clang does not.
extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const firn::testing::FuzzTarget target = Chosen();
  target({reinterpret_cast<const char*>(data), size});
  return 0;
}

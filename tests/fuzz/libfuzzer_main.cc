// Under clang's libFuzzer, which has a main function of its own and takes g++'s calls per block for
// coverage. The environment variable FIRN_FUZZ_READER names the reader.
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/targets.h"

namespace {

using Target = int (*)(const uint8_t*, size_t);

Target Chosen() {
  using namespace firn::io;
  struct Named {
    std::string_view name;
    Target target;
  };
  constexpr Named kTargets[] = {{"image", FuzzImage}, {"npy", FuzzNpy},     {"npz", FuzzNpz},
                                {"wav", FuzzWav},     {"idx", FuzzIdx},     {"csv", FuzzCsv},
                                {"hdf5", FuzzHdf5},   {"cifar", FuzzCifar}, {"graph", FuzzGraph}};
  const char* wanted = std::getenv("FIRN_FUZZ_READER");
  for (const Named& t : kTargets) {
    if (wanted == nullptr || t.name == wanted) return t.target;
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Target target = Chosen();
  return target(data, size);
}

// Weights of other frameworks.
#include <string>
#include <string_view>
#include <vector>

#include "firn/io/safetensors/safetensors_status.h"
#include "firn/io/torch/torch_status.h"
#include "firn/tensor/from.h"
#include "tests/fuzz/reader.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::kFuzzLimits;

FIRN_FUZZ_READER(safetensors) {
  return TryParseSafetensors(bytes, "fuzz", {.load = {.limits = kFuzzLimits}, .widen = true}).ok();
}

FIRN_FUZZ_SEEDS(safetensors) {
  const std::string path = TempPath("seed.safetensors");
  SaveSafetensors(path, {{"w", FromVector(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3})},
                         {"steps", FromValues<int64_t>({7})}});
  return {ReadFile(path)};
}

FIRN_FUZZ_READER(torch) {
  return TryParseTorch(bytes, "fuzz", {.load = {.limits = kFuzzLimits}, .widen = true}).ok();
}

FIRN_FUZZ_SEEDS(torch) {
  std::vector<std::string> files;
  for (const char* name : {"views", "views_old", "checkpoint"}) {
    files.push_back(ReadFile("tests/io/torch/data/" + std::string(name) + ".pt"));
  }
  return files;
}

}  // namespace
}  // namespace firn::io

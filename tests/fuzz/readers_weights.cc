// Weights of other frameworks.
#include <string>
#include <string_view>
#include <vector>

#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/safetensors/safetensors_status.h"
#include "firn/io/torch/torch_optimizer.h"
#include "firn/io/torch/torch_status.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/scratch.h"
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

// An index and the two files that it names.
const std::vector<std::string>& ShardNames() {
  static const auto* const names = new std::vector<std::string>{"model.safetensors.index.json",
                                                                "1.safetensors", "2.safetensors"};
  return *names;
}

FIRN_FUZZ_READER(safetensors_index) {
  const std::string folder = testing::ScratchFolder("safetensors");
  testing::SplitIntoFolder(bytes, ShardNames(), folder);
  // The files are not mapped, since they are written anew while earlier ones may still be in use.
  return TryLoadSafetensors(folder + "/" + ShardNames()[0],
                            {.load = {.limits = kFuzzLimits}, .map = false, .widen = true})
      .ok();
}

FIRN_FUZZ_SEEDS(safetensors_index) {
  const std::string folder = testing::ScratchFolder("safetensors_seed");
  WriteFile(folder + "/" + ShardNames()[0],
            R"({"metadata": {"total_size": 12}, "weight_map": {"a": "1.safetensors", )"
            R"("b": "2.safetensors"}})");
  SaveSafetensors(folder + "/" + ShardNames()[1], {{"a", FromValues({1.f, 2.f})}});
  SaveSafetensors(folder + "/" + ShardNames()[2], {{"b", FromValues({3.f})}});
  return {testing::JoinFolder(folder, ShardNames())};
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

// A state as optim::Adam gives it out.
StateDict AdamState() {
  const auto number = [](double value) { return Full({}, value, DType::kF64); };
  return {{"groups.0.lr", number(0.25)},
          {"groups.0.beta1", number(0.5)},
          {"groups.0.beta2", number(0.75)},
          {"groups.0.eps", number(1e-8)},
          {"groups.0.weight_decay", number(0)},
          {"groups.0.amsgrad", number(0)},
          {"groups.0.bias_correction", number(1)},
          {"groups.0.semantics", number(0)},
          {"state.w.step", Full({}, 3, DType::kI64)},
          {"state.w.exp_avg", FromValues({1.f, 2.f})},
          {"state.w.exp_avg_sq", FromValues({3.f, 4.f})}};
}

const TorchOptimizerOptions kTorchOptimizer = {.parameters = {"b", "w"}, .limits = kFuzzLimits};

FIRN_FUZZ_READER(torch_optimizer) {
  try {
    LoadTorchOptimizer(testing::InMemory(bytes), AdamState(), kTorchOptimizer);
    return true;
  } catch (const Error&) {
    return false;
  }
}

FIRN_FUZZ_SEEDS(torch_optimizer) {
  SaveTorchOptimizer(TempPath("seed.pt"), AdamState(), kTorchOptimizer);
  return {ReadFile(TempPath("seed.pt"))};
}

std::vector<std::string> NnablaFiles(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    files.push_back(ReadFile("tests/io/nnabla_model/data/" + name));
  }
  return files;
}

// An archive is recognised under any name.
FIRN_FUZZ_READER(nnabla_model) {
  return TryParseNnabla(bytes, "fuzz.nntxt", {.limits = kFuzzLimits}).ok();
}

FIRN_FUZZ_SEEDS(nnabla_model) { return NnablaFiles({"protobuf.nnp", "bare.nntxt"}); }

FIRN_FUZZ_READER(nnabla_messages) {
  return TryParseNnabla(bytes, "fuzz.protobuf", {.limits = kFuzzLimits}).ok();
}

FIRN_FUZZ_SEEDS(nnabla_messages) { return NnablaFiles({"parameters.protobuf"}); }

}  // namespace
}  // namespace firn::io

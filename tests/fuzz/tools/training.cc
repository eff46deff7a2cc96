// `firn nnp train` and `firn nnp infer` on damaged files of NNabla's: a file that was read is run,
// as briefly as possible.
#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/network/definition.h"
#include "firn/device/comm/thread_ranks.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/nnabla_network/nnabla_network.h"
#include "firn/io/nnabla_training/nnabla_initial.h"
#include "firn/tensor/error.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/run.h"
#include "tests/io/test_files.h"
#include "tools/firn/nnp/infer.h"
#include "tools/firn/nnp/train.h"
#include "tools/firn/train/ranks.h"

namespace firn::cli {
namespace {

namespace nnabla = io::nnabla;

const std::string kData = "tests/tools/firn/nnp/data/";

constexpr io::NnablaImportOptions kOptions = {
    .limits = testing::kFuzzLimits,
    .expand = {.max_times = 50, .max_copies = 1000, .max_bytes = 1 << 20}};

// Sets fewer iterations, and data that exist, whatever the file says.
void Shorten(nnabla::Model* model) {
  if (model->training_config) {
    nnabla::TrainingConfig& config = *model->training_config;
    config.max_epoch = std::min<int64_t>(config.max_epoch, 2);
    config.iter_per_epoch = std::min<int64_t>(config.iter_per_epoch, 2);
  }
  for (nnabla::Dataset& dataset : model->datasets) {
    const bool pictures = dataset.uri.find("pictures") != std::string::npos;
    dataset.uri = kData + (pictures ? "pictures.csv" : "rows.csv");
    dataset.cache_dir.clear();
    dataset.batch_size = std::min<int64_t>(dataset.batch_size, 64);
  }
  for (nnabla::Executor& executor : model->executors) {
    executor.num_evaluations = std::min<int64_t>(executor.num_evaluations, 2);
  }
}

// Writes the model that was read into a new file in memory, since writing to a disk would wait for
// it.
absl::StatusOr<std::string> Shortened(std::string_view bytes, const std::string& name,
                                      nnabla::Model* model) {
  auto read = io::TryParseNnabla(bytes, "fuzz.nntxt", {.limits = testing::kFuzzLimits});
  if (!read.ok()) return read.status();
  *model = *std::move(read);
  Shorten(model);
  const std::string path = io::MemoryPath(name);
  const absl::Status saved = io::TrySaveNnabla(path, *model);
  if (!saved.ok()) return saved;
  return path;
}

FIRN_FUZZ_READER(nnp_train) {
  nnabla::Model model;
  const auto path = Shortened(bytes, "train.nntxt", &model);
  if (!path.ok()) return false;
  std::ostringstream out, err;
  Terminal terminal{out, err};
  NnpTraining training;
  training.model = *path;
  training.output = io::MemoryPath("results");
  try {
    // The command's own limit on drawn data is in GiB.
    static_cast<void>(io::InitialNnablaParameters(model, "fuzz", {}, kOptions));
    const testing::TensorLimit limit;
    TrainNnp(training, terminal, Ranks(std::move(comm::ThreadRanks(1)[0])));
  } catch (const Error&) {
    return false;
  }
  return true;
}

FIRN_FUZZ_SEEDS(nnp_train) {
  std::vector<std::string> files;
  for (const char* name : {"sgd", "convolution", "two", "numbers"}) {
    files.push_back(io::ReadFile(absl::StrCat(kData, name, ".nntxt")));
  }
  return files;
}

// Files of zeros, one for each input of an executor.
std::vector<std::string> InputsOf(const io::NnablaImport& import) {
  std::vector<std::string> paths;
  for (const io::NnablaPart& executor : import.executors) {
    for (const autograd::NetworkPort& port : executor.network.inputs()) {
      std::vector<int64_t> sizes;
      for (const autograd::NetworkDim& dim : *port.dims) sizes.push_back(*dim.size);
      const auto input = testing::InputOf(Shape(sizes), DType::kF32, false);
      const int64_t n = input ? input->num_elements() : 0;
      paths.push_back(io::MemoryPath(absl::StrCat(paths.size(), ".bin")));
      io::WriteFile(paths.back(), std::string(static_cast<size_t>(n) * sizeof(float), '\0'));
    }
  }
  return paths;
}

FIRN_FUZZ_READER(nnp_infer) {
  nnabla::Model model;
  const auto path = Shortened(bytes, "infer.nnp", &model);
  if (!path.ok()) return false;
  std::ostringstream out, err;
  Terminal terminal{out, err};
  NnpInference inference;
  inference.model = *path;
  try {
    io::NnablaImportOptions options = kOptions;
    options.batch_size = 1;
    inference.inputs = InputsOf(io::ImportNnablaModel(model, "fuzz", options));
    const testing::TensorLimit limit;
    InferNnp(inference, terminal);
  } catch (const Error&) {
    return false;
  }
  return true;
}

FIRN_FUZZ_SEEDS(nnp_infer) { return testing::Seeds(testing::FuzzReaders().at("nnabla_run")); }

}  // namespace
}  // namespace firn::cli

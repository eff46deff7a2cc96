// Tables, labelled images and graphs.
#include <filesystem>
#include <string>
#include <string_view>

#include "firn/io/csv/csv_status.h"
#include "firn/io/data/cifar_status.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/idx/idx_status.h"
#include "tests/fuzz/graph_checksums.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/scratch.h"

namespace firn::io {
namespace {

using testing::InMemory;
using testing::kFuzzLimits;

FIRN_FUZZ_READER(idx) { return TryReadIdx(InMemory(bytes), kFuzzLimits).ok(); }

FIRN_FUZZ_READER(csv) {
  const std::string text(bytes);
  const bool numbers = TryParseCsv(text, "fuzz", {.limits = kFuzzLimits}).ok();
  CsvOptions words = {.skip_lines = 1, .limits = kFuzzLimits};
  words.categories[1] = {"setosa", "virginica"};
  CsvOptions all = {
      .heading = true, .dtype = DType::kF64, .missing = CsvMissing::kMean, .limits = kFuzzLimits};
  all.categories["species"] = {"setosa", "virginica"};
  all.one_hot = {"species"};
  const bool mixed = TryParseCsv(text, "fuzz", all).ok();
  all = {.dtype = DType::kI64, .missing = CsvMissing::kDropRow, .limits = kFuzzLimits};
  const bool whole = TryParseCsv(text, "fuzz", all).ok();
  all.dtypes = {{0, DType::kF64}, {1, DType::kU8}};
  const bool typed = TryParseCsvColumns(text, "fuzz", all).ok();
  return TryParseCsv(text, "fuzz", words).ok() || numbers || mixed || whole || typed;
}

FIRN_FUZZ_READER(cifar) {
  const std::filesystem::path file = InMemory(bytes, "test.bin");
  return TryCifar100(file.parent_path().string(), {.train = false}).ok();
}

FIRN_FUZZ_READER(graph) {
  const bool read = TryReadGraph(InMemory(bytes), {.limits = kFuzzLimits}).ok();
  const std::string right = testing::WithRightChecksums(bytes);
  return TryReadGraph(InMemory(right), {.limits = kFuzzLimits}).ok() || read;
}

}  // namespace
}  // namespace firn::io

// Tables, labelled images and graphs.
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>

#include "firn/io/csv/csv_status.h"
#include "firn/io/data/cifar_status.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/graph/graph_info_text.h"
#include "firn/io/idx/idx_status.h"
#include "tests/fuzz/graph_checksums.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/scratch.h"
#include "tests/io/graph/changed_graph_file.h"
#include "tests/io/test_files.h"

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

// A description that was read is written and read again, and must be equal.
FIRN_FUZZ_READER(graph_info) {
  static const GraphFile* const file = [] {
    const std::string path = TempPath("info.firn");
    WriteFile(path, SmallFile());
    return new GraphFile(TryReadGraph(path).value());
  }();
  const auto info = TryParseGraphInfo(bytes, file->graph, kFuzzLimits);
  if (!info.ok()) return false;
  const std::string text = GraphInfoText(*info);
  const auto again = TryParseGraphInfo(text, file->graph);
  testing::FuzzCheck(again.ok() && GraphInfoText(*again) == text,
                     "a description reads back as it was written");
  return true;
}

FIRN_FUZZ_SEEDS(graph_info) {
  return {GraphInfoText({.pixel_scale = 0.25,
                         .scale = 0.5,
                         .mean = {0.1, 0.2, 0.3, 0.4},
                         .stddev = {1, 2, 3, 4},
                         .columns = {{.name = "a"}, {.words = {"b", "c"}}, {.place = 7}},
                         .target = GraphColumn{.name = "kind"},
                         .missing = std::nan(""),
                         .missing_words = {"", "-"},
                         .classes = {"cat", "dog"},
                         .probabilities = true})};
}

}  // namespace
}  // namespace firn::io

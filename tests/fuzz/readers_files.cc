// Tables, labelled images and graphs.
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "firn/io/csv/csv_status.h"
#include "firn/io/data/cifar_status.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/idx/idx_status.h"
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

uint32_t Crc(const std::string& bytes, size_t at, size_t n) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()) + at, n));
}

// Note [Graph files]: the structure and the whole file have checksums, which stop nearly every
// mutation, and so does the size of the structure.
std::string WithRightChecksums(std::string_view bytes) {
  constexpr size_t kHeader = 32, kCrc = 4;
  std::string graph(bytes);
  if (graph.size() < kHeader + kCrc) return graph;
  uint64_t structure = graph.size() - kHeader - kCrc, elements = 0;
  std::memcpy(&elements, graph.data() + 24, sizeof(elements));
  if (elements <= structure) structure -= elements;
  std::memcpy(graph.data() + 16, &structure, sizeof(structure));
  uint32_t crc = Crc(graph, kHeader, structure);
  std::memcpy(graph.data() + 12, &crc, kCrc);
  crc = Crc(graph, 0, graph.size() - kCrc);
  std::memcpy(graph.data() + graph.size() - kCrc, &crc, kCrc);
  return graph;
}

FIRN_FUZZ_READER(graph) {
  const bool read = TryReadGraph(InMemory(bytes), {.limits = kFuzzLimits}).ok();
  const std::string right = WithRightChecksums(bytes);
  return TryReadGraph(InMemory(right), {.limits = kFuzzLimits}).ok() || read;
}

}  // namespace
}  // namespace firn::io

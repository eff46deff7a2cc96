// Data sets whose rows are read when they are asked for, some from folders of several files.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/io/data/csv_rows.h"
#include "firn/io/data/hdf5_dataset.h"
#include "firn/io/data/npy_dataset.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/tensor/error.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/scratch.h"

namespace firn::io {
namespace {

using testing::kFuzzLimits;
using testing::ScratchFolder;

// Reads the first and the last rows: there may be a million.
template <class Data>
void ReadSome(const Data& data) {
  for (int64_t i = 0; i < data.size(); i = i == 2 && data.size() > 6 ? data.size() - 3 : i + 1) {
    try {
      static_cast<void>(data.Get(i));
    } catch (const Error&) {
    }
  }
}

template <class Open>
bool ReadSomeOf(Open open) {
  try {
    ReadSome(*open());
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The table; its folder holds nothing else that has a name of a cell.
FIRN_FUZZ_READER(csv_rows) {
  const std::string path = testing::InMemory(bytes, "t.csv");
  const bool plain = ReadSomeOf([&] { return CsvRows(path, {.limits = kFuzzLimits}); });
  const CsvRowsOptions means = {
      .dtypes = {{1, DType::kF64}}, .missing = CsvMissing::kMean, .limits = kFuzzLimits};
  const bool mean = ReadSomeOf([&] { return CsvRows(path, means); });
  const CsvRowsOptions words = {
      .one_hot = {0}, .missing = CsvMissing::kDropRow, .limits = kFuzzLimits};
  return ReadSomeOf([&] { return CsvRows(path, words); }) || plain || mean;
}

// Two rows at once; then it may have rows by themselves.
DatasetPtr AfterABatch(DatasetPtr data) {
  const std::vector<int64_t> batch = {data->size() - 1, 0};
  try {
    if (data->size() > 0) static_cast<void>(data->GetBatch(batch));
  } catch (const Error&) {
  }
  return data;
}

FIRN_FUZZ_READER(npy_dataset) {
  const std::string path = testing::InMemory(bytes);
  return ReadSomeOf([&] {
    return AfterABatch(NpyDataset(path, {.void_is_bf16 = true, .max_row_bytes = 1 << 20}));
  });
}

FIRN_FUZZ_READER(hdf5_dataset) {
  const std::string path = testing::InMemory(bytes);
  return ReadSomeOf([&] {
    return AfterABatch(Hdf5Dataset(
        path, {.target = "", .in_memory = false, .max_row_bytes = 1 << 20, .limits = kFuzzLimits}));
  });
}

bool ReadCache(std::string_view bytes, const std::vector<std::string>& names,
               const std::string& folder) {
  testing::SplitIntoFolder(bytes, names, folder);
  return ReadSomeOf([&] { return OpenNnablaCache(folder, {.limits = kFuzzLimits}); });
}

FIRN_FUZZ_READER(nnabla_cache) {
  return ReadCache(bytes,
                   {"cache_index.csv", "cache_info.csv", "cache_00000000_00000001.npy",
                    "cache_00000002_00000002.npy"},
                   ScratchFolder("nnabla_cache"));
}

FIRN_FUZZ_READER(nnabla_cache_h5) {
  return ReadCache(bytes,
                   {"cache_index.csv", "cache_00000000_00000001.h5", "cache_00000002_00000002.h5"},
                   ScratchFolder("nnabla_cache_h5"));
}

}  // namespace
}  // namespace firn::io

#ifndef FIRN_IO_DATA_CACHE_H_
#define FIRN_IO_DATA_CACHE_H_

// Samples that are made only once, for data sets where making one (decoding, reading over a
// network) costs more than reading it back.
//
//   io::DatasetPtr train = io::MemoryCache(io::CsvRows("train.csv"));

#include <cstdint>
#include <string>

#include "firn/io/data/dataset.h"
#include "firn/io/nnabla/nnabla_cache.h"

namespace firn::io {

struct MemoryCacheOptions {
  // The most bytes of elements that are kept; further samples are made anew each time.
  int64_t max_bytes = int64_t{1} << 30;
};

// The same samples, each kept in memory from its first use on. Augmentation must come after it, by
// Map or DataLoaderOptions::map. Throws where the dataset is null or max_bytes negative.
DatasetPtr MemoryCache(DatasetPtr dataset, const MemoryCacheOptions& options = {});

struct FileCacheOptions {
  // Use the cache that is in the folder, if it has as many rows: for a program that is started
  // again. Whether its samples are the dataset's is not checked, except for the names of the first
  // sample's tensors.
  bool reuse = false;
  NnablaCacheFormat format = NnablaCacheFormat::kNpy;
  int threads = 1;  // that make samples while the cache is written
};

// The same samples, written into a folder at once and read from there (io/nnabla/nnabla_cache.h),
// under the names that their tensors have, x and y where they have none; in .npy files bf16 becomes
// f32. Without `reuse` a cache that is there is replaced. The folder stays. Throws firn::Error:
// FailedPrecondition where a cache of another size is to be reused, what the dataset throws, and
// what WriteNnablaCache and OpenNnablaCache do.
DatasetPtr FileCache(DatasetPtr dataset, const std::string& folder,
                     const FileCacheOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_CACHE_H_

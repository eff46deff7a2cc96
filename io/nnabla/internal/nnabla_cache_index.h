#ifndef FIRN_IO_NNABLA_INTERNAL_NNABLA_CACHE_INDEX_H_
#define FIRN_IO_NNABLA_INTERNAL_NNABLA_CACHE_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/load_limits.h"

namespace firn::io::internal {

inline constexpr char kCacheIndex[] = "cache_index.csv";
inline constexpr char kCacheInfo[] = "cache_info.csv";

// The contents of an NNabla cache's two tables.
struct NnablaCacheIndex {
  std::vector<std::string> files;  // paths
  std::vector<int64_t> rows;       // of each file
  std::vector<int64_t> ends;       // the number of the row after its last
  bool has_info = false;
  std::vector<std::string> variables;  // of cache_info.csv

  int64_t size() const { return ends.empty() ? 0 : ends.back(); }
};

// DataLoss, naming file, line and column, for values that make no sense. Rows are not compared with
// the files yet.
absl::StatusOr<NnablaCacheIndex> ReadNnablaCacheIndex(const std::string& folder,
                                                      const LoadLimits& limits);

// Whether the file `folder`/cache_index.csv is there.
bool IsNnablaCache(const std::string& folder);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_INTERNAL_NNABLA_CACHE_INDEX_H_

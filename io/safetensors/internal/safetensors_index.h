#ifndef FIRN_IO_SAFETENSORS_INTERNAL_SAFETENSORS_INDEX_H_
#define FIRN_IO_SAFETENSORS_INTERNAL_SAFETENSORS_INDEX_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "firn/io/load_limits.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {

// The contents of an index of files (model.safetensors.index.json): the file of each tensor. Names
// can only refer to files in the index's folder.
struct SafetensorsIndex {
  std::vector<std::string> files;                         // different, as they are first named
  absl::flat_hash_map<std::string, std::string> file_of;  // by names of tensors
};

absl::StatusOr<SafetensorsIndex> ReadSafetensorsIndex(const RandomAccess& file,
                                                      const LoadLimits& limits);

}  // namespace firn::io::internal

#endif  // FIRN_IO_SAFETENSORS_INTERNAL_SAFETENSORS_INDEX_H_

#ifndef FIRN_IO_SAFETENSORS_INTERNAL_SAFETENSORS_HEADER_H_
#define FIRN_IO_SAFETENSORS_INTERNAL_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/load_limits.h"
#include "firn/io/random_access.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// A type of the format: its word and how many bits an element has.
struct SafetensorsType {
  const char* word;
  int bits;
};

// Null for an unknown word.
const SafetensorsType* FindSafetensorsType(std::string_view word);

// A header's entry for one tensor: `shape` and the type give `end` - `begin` bytes, which lie
// inside the file.
struct SafetensorsEntry {
  std::string name;
  const SafetensorsType* type = nullptr;
  std::vector<int64_t> shape;
  int64_t begin = 0, end = 0;  // from the start of the file
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the header's order, of different names
  OrderedMap<std::string> metadata;
};

// Reads and checks all of the header: entries fill the rest of the file without gaps or overlaps.
absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(const RandomAccess& file,
                                                        const LoadLimits& limits);

}  // namespace firn::io::internal

#endif  // FIRN_IO_SAFETENSORS_INTERNAL_SAFETENSORS_HEADER_H_

#ifndef FIRN_IO_INTERNAL_H5_LINKS_H_
#define FIRN_IO_INTERNAL_H5_LINKS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "firn/io/internal/h5_file.h"
#include "firn/io/internal/h5_group.h"

namespace firn::io::internal {

// Where the paths of soft links lead. Keeps the members of the groups on the way, so that a group
// is listed once however many links go through it. Thread-compatible.
class H5Links {
 public:
  explicit H5Links(H5File& file) : file_(file) {}

  // The address of the object at `path`, which begins in the group at `from` unless it begins with
  // a slash. Unimplemented where nothing is there, and where links lead to links without end.
  absl::StatusOr<uint64_t> Resolve(uint64_t from, std::string_view path);

 private:
  using Members = std::unordered_map<std::string, H5Link>;
  absl::StatusOr<const Members*> MembersOf(uint64_t group, std::string_view path);

  H5File& file_;
  std::unordered_map<uint64_t, Members> groups_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_H5_LINKS_H_

#ifndef FIRN_IO_HDF5_INTERNAL_H5_LINKS_H_
#define FIRN_IO_HDF5_INTERNAL_H5_LINKS_H_

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_group.h"

namespace firn::io::internal {

// Resolves the paths of soft links. All groups must have been listed before; each group can be
// reached without a soft link. Thread-compatible.
class H5Links {
 public:
  explicit H5Links(H5File& file) : file_(file) {}

  // Stores the members of the group at `group`, unless it has them already.
  void Add(uint64_t group, std::vector<H5Link> members);

  // The address of the object at `path`, which begins in the group at `from` unless it begins with
  // a slash. Unimplemented if nothing is there, and if links lead to links without end.
  absl::StatusOr<uint64_t> Resolve(uint64_t from, std::string_view path);

 private:
  struct Group {
    std::vector<H5Link> members;
    // Made when a path first leads through the group: files without soft links need none.
    std::unordered_map<std::string_view, const H5Link*> by_name;
  };
  // Null where it has none of that name.
  static const H5Link* Find(Group& group, std::string_view name);

  H5File& file_;
  std::unordered_map<uint64_t, Group> groups_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_LINKS_H_

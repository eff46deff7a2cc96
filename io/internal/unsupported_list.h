#ifndef FIRN_IO_INTERNAL_UNSUPPORTED_LIST_H_
#define FIRN_IO_INTERNAL_UNSUPPORTED_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace firn::io::internal {

// What a file asks for and Firn does not have, for one message. Files are hostile: of many places
// of one kind the first three are named, of a very long name its ends, and the first 500 kinds are
// listed, of which the standards have fewer; all others are counted.
class UnsupportedList {
 public:
  // `kind` tells what several places have in common (an operator); `place` is one of them, and why.
  void Add(std::string_view kind, std::string_view place);

  bool empty() const { return kinds_.empty(); }
  // "node 0 (A), node 1 (A), node 5 (A) and 4 more like these; node 2 (B)"
  std::string Text() const;

 private:
  struct Kind {
    std::vector<std::string> places;
    size_t others = 0;
  };

  std::vector<Kind> kinds_;  // in the order of their first places
  absl::flat_hash_map<std::string, size_t> index_;
  size_t others_ = 0;  // places of further kinds
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_UNSUPPORTED_LIST_H_

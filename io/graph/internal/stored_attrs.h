#ifndef FIRN_IO_GRAPH_INTERNAL_STORED_ATTRS_H_
#define FIRN_IO_GRAPH_INTERNAL_STORED_ATTRS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/device/inner.h"
#include "firn/tensor/attrs.h"

namespace firn::io::internal {

// The word of an enumerator.
struct StoredWord {
  std::string text;
  friend bool operator==(const StoredWord&, const StoredWord&) = default;
};

// A type's number in files is its position here, so add at the end only. Words exist from version 3
// of the format on.
using AttrValue =
    std::variant<int64_t, double, bool, std::string, std::vector<int64_t>, StoredWord>;

// One field of an operation's attributes.
struct StoredAttr {
  std::string name;
  AttrValue value;
};

// InvalidArgument, naming the field, for a value of an enum that is no enumerator.
absl::StatusOr<std::vector<StoredAttr>> StoreAttrs(AttrsRef attrs);

// Attributes of `type` (null: none) with these fields; fields that are not named keep their
// defaults, so that operations can get new ones. InvalidArgument, naming the field, for one that
// the type does not have, that occurs twice, is of another type, or does not fit: 300 for a number
// of 8 bits, three numbers for a list of two, a word that the enum does not have. An enumerator may
// be a number as well, as files before version 3 have it: the position in its list of words.
absl::StatusOr<Attrs> RestoreAttrs(const AttrsType* type, absl::Span<const StoredAttr> fields);

}  // namespace firn::io::internal

#endif  // FIRN_IO_GRAPH_INTERNAL_STORED_ATTRS_H_

// A version 2 B-tree has a header ("BTHD": version, type of records, bytes of a node, of a record,
// depth, percentages, the root with the number of its records), inner nodes ("BTIN") of records and
// pointers, and leaves ("BTLF") of records. Each ends in a checksum.
#include "firn/io/hdf5/internal/h5_btree2.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {

uint64_t H5BytesFor(uint64_t limit) {
  return (static_cast<uint64_t>(std::bit_width(limit)) - 1) / 8 + 1;
}

namespace {

constexpr const char* kField = "tree index";

class Tree {
 public:
  static absl::StatusOr<Tree> Read(H5File& file, uint64_t address, uint64_t type,
                                   uint64_t least_bytes) {
    FIRN_ASSIGN_OR_RETURN(const std::string header, file.ReadChecked(address, 38, kField));
    Tree tree;
    H5Cursor c(header, address);
    const bool expected = c.Bytes(4) == "BTHD" && c.Uint(1) == 0 && c.Uint(1) == type;
    const uint64_t node_bytes = c.Uint(4);
    tree.record_bytes_ = c.Uint(2);
    const uint64_t depth = c.Uint(2);
    c.Skip(2);
    tree.root_ = {c.Uint(8), c.Uint(2), depth};
    FIRN_RETURN_IF_ERROR(file.Check(c, kField));
    if (!expected || tree.record_bytes_ < least_bytes || depth > 16 || node_bytes < 64 ||
        node_bytes > (1 << 20)) {
      return file.DamagedAt(address, kField, "not the header that is expected");
    }
    tree.FindPointerSizes(node_bytes, depth);
    return tree;
  }

  absl::Status ForEach(H5File& file, absl::FunctionRef<absl::Status(H5Cursor)> f) const {
    std::vector<Node> todo;
    if (root_.address != kH5Undefined) todo.push_back(root_);
    while (!todo.empty()) {
      const Node node = todo.back();
      todo.pop_back();
      const uint64_t pointers =
          node.level == 0 ? 0 : (node.records + 1) * pointer_bytes_[node.level];
      FIRN_ASSIGN_OR_RETURN(
          const std::string bytes,
          file.ReadChecked(node.address, 6 + node.records * record_bytes_ + pointers + 4, kField));
      H5Cursor c(bytes, node.address);
      if (c.Bytes(4) != (node.level == 0 ? "BTLF" : "BTIN")) {
        return file.DamagedAt(node.address, kField, "not the node that is expected");
      }
      c.Skip(2);
      for (uint64_t i = 0; i < node.records; ++i) {
        const uint64_t offset = c.offset();
        FIRN_RETURN_IF_ERROR(f(H5Cursor(c.Bytes(record_bytes_), offset)));
      }
      for (uint64_t i = 0; node.level > 0 && i <= node.records; ++i) {
        const uint64_t address = c.Uint(8), records = c.Uint(count_bytes_);
        c.Skip(pointer_bytes_[node.level] - 8 - count_bytes_);
        todo.push_back({address, records, node.level - 1});
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Node {
    uint64_t address = 0, records = 0, level = 0;
  };

  // A pointer is an address, a count of the child's own records and, above level 1, a count of all
  // records below it. The counts take as many bytes as the fullest possible nodes need.
  void FindPointerSizes(uint64_t node_bytes, uint64_t depth) {
    constexpr uint64_t kFrame = 10;  // signature, version, type, checksum
    const uint64_t in_leaf = std::max<uint64_t>((node_bytes - kFrame) / record_bytes_, 1);
    count_bytes_ = H5BytesFor(in_leaf);
    uint64_t below = in_leaf, below_bytes = 0;
    pointer_bytes_ = {0};
    for (uint64_t level = 1; level <= depth; ++level) {
      const uint64_t pointer = 8 + count_bytes_ + below_bytes;
      pointer_bytes_.push_back(pointer);
      const uint64_t in_node =
          (node_bytes - std::min(node_bytes, kFrame + pointer)) / (record_bytes_ + pointer);
      below = std::min<uint64_t>((in_node + 1) * below + in_node, uint64_t{1} << 40);
      below_bytes = H5BytesFor(below);
    }
  }

  uint64_t record_bytes_ = 0, count_bytes_ = 0;
  std::vector<uint64_t> pointer_bytes_;  // by level
  Node root_;
};

}  // namespace

absl::Status ForEachH5Record(H5File& file, uint64_t address, uint64_t type, uint64_t least_bytes,
                             absl::FunctionRef<absl::Status(H5Cursor)> f) {
  FIRN_ASSIGN_OR_RETURN(const Tree tree, Tree::Read(file, address, type, least_bytes));
  return tree.ForEach(file, f);
}

}  // namespace firn::io::internal

// A fractal heap is one address space cut into blocks by a *doubling table*: rows of `width`
// blocks, of `start` bytes in rows 0 and 1 and of twice as many in each row after. Rows of blocks
// up to `max_direct` bytes point to direct blocks, which hold objects; later rows to indirect
// blocks, which cut their piece of the space by a table of the same form. The root is one direct
// block of `start` bytes (no rows) or an indirect block. An object is named by offset and length.
//
// The names of the objects are in a version 2 B-tree ("BTHD", "BTIN", "BTLF"), whose records we
// visit in no particular order. All these structures end in a checksum.
#include "firn/io/internal/h5_heap.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

// Bytes that HDF5 takes to write numbers up to `limit` > 0.
uint64_t BytesFor(uint64_t limit) {
  return (static_cast<uint64_t>(std::bit_width(limit)) - 1) / 8 + 1;
}

struct DirectBlock {
  uint64_t begin = 0, size = 0;  // in the heap's space
  uint64_t address = 0;
};

class Heap {
 public:
  static absl::StatusOr<Heap> Read(H5File& file, uint64_t address) {
    Heap heap;
    FIRN_RETURN_IF_ERROR(heap.ReadHeader(file, address));
    FIRN_RETURN_IF_ERROR(heap.ReadBlocks(file));
    return heap;
  }

  // The object of a heap id: kind, offset, length.
  absl::StatusOr<std::string> Get(H5File& file, H5Cursor id, uint64_t* address) const {
    const uint64_t at = id.offset();
    const uint64_t kind = id.Uint(1);
    const uint64_t offset = id.Uint(offset_bytes_), length = id.Uint(length_bytes_);
    FIRN_RETURN_IF_ERROR(file.Check(id, "heap id"));
    if (kind != 0) return file.Refused("heap objects that are huge or tiny");
    const auto after =
        std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                         [](uint64_t value, const DirectBlock& b) { return value < b.begin; });
    if (after == blocks_.begin() || offset - (after - 1)->begin >= (after - 1)->size ||
        length > (after - 1)->size - (offset - (after - 1)->begin)) {
      return file.DamagedAt(at, "heap id", absl::StrCat("no object at ", offset));
    }
    *address = (after - 1)->address + (offset - (after - 1)->begin);
    return file.ReadMetadata(*address, length, "heap object");
  }

 private:
  absl::Status ReadHeader(H5File& file, uint64_t address) {
    FIRN_ASSIGN_OR_RETURN(const std::string start, file.ReadMetadata(address, 10, "heap"));
    H5Cursor s(start, address);
    if (s.Bytes(4) != "FRHP") return file.DamagedAt(address, "heap", "expected FRHP");
    s.Skip(3);
    if (s.Uint(2) != 0) return file.Refused("a heap with filters");
    FIRN_ASSIGN_OR_RETURN(const std::string bytes, file.ReadChecked(address, 146, "heap"));
    H5Cursor c(bytes, address);
    c.Skip(10);
    const uint64_t max_object = c.Uint(4);
    c.Skip(96);
    width_ = c.Uint(2);
    start_ = c.Uint(8);
    max_direct_ = c.Uint(8);
    const uint64_t heap_bits = c.Uint(2);
    c.Skip(2);
    root_ = c.Uint(8);
    root_rows_ = c.Uint(2);
    FIRN_RETURN_IF_ERROR(file.Check(c, "heap"));
    // Far beyond what any writer uses (4, 512, 64 KiB, 32), and small enough not to overflow below.
    const auto power = [](uint64_t v, uint64_t most) {
      return std::has_single_bit(v) && v <= most;
    };
    if (!power(width_, 64) || !power(start_, 1 << 16) || !power(max_direct_, 1 << 24) ||
        heap_bits > 48 || root_rows_ > 40 || max_object == 0) {
      return file.DamagedAt(address, "heap", "impossible sizes");
    }
    offset_bytes_ = (heap_bits + 7) / 8;
    length_bytes_ = std::min(BytesFor(max_direct_), BytesFor(max_object));
    return absl::OkStatus();
  }

  uint64_t RowSize(uint64_t row) const { return row == 0 ? start_ : start_ << (row - 1); }

  absl::Status ReadBlocks(H5File& file) {
    if (root_rows_ == 0) {
      blocks_.push_back({0, start_, root_});
      return absl::OkStatus();
    }
    struct Indirect {
      uint64_t begin, rows, address;
    };
    std::vector<Indirect> todo = {{0, root_rows_, root_}};
    while (!todo.empty()) {
      const Indirect block = todo.back();
      todo.pop_back();
      // "FHIB", version, address of the header, offset in the heap, addresses, checksum.
      const uint64_t before = 4 + 1 + 8 + offset_bytes_;
      FIRN_ASSIGN_OR_RETURN(
          const std::string bytes,
          file.ReadChecked(block.address, before + block.rows * width_ * 8 + 4, "heap block"));
      H5Cursor c(bytes, block.address);
      if (c.Bytes(4) != "FHIB") return file.DamagedAt(block.address, "heap block", "expected FHIB");
      c.Skip(before - 4);
      uint64_t begin = block.begin;
      for (uint64_t row = 0; row < block.rows; ++row) {
        const uint64_t size = RowSize(row);
        for (uint64_t column = 0; column < width_; ++column, begin += size) {
          const uint64_t address = c.Uint(8);
          if (address == kH5Undefined) continue;
          if (size <= max_direct_) {
            blocks_.push_back({begin, size, address});
            continue;
          }
          // As many rows as fill `size`: width * start * 2^(rows - 1).
          const auto rows = static_cast<uint64_t>(std::bit_width(size / (start_ * width_)));
          if (rows == 0 || rows >= block.rows) {
            return file.DamagedAt(block.address, "heap block", "impossible sizes");
          }
          todo.push_back({begin, rows, address});
        }
      }
    }
    std::sort(blocks_.begin(), blocks_.end(),
              [](const DirectBlock& a, const DirectBlock& b) { return a.begin < b.begin; });
    return absl::OkStatus();
  }

  uint64_t width_ = 0, start_ = 0, max_direct_ = 0;
  uint64_t offset_bytes_ = 0, length_bytes_ = 0;
  uint64_t root_ = 0, root_rows_ = 0;
  std::vector<DirectBlock> blocks_;  // by begin
};

// The B-tree; its records are a hash of 4 bytes and a heap id.
class LinkIndex {
 public:
  static absl::StatusOr<LinkIndex> Read(const H5File& file, const std::string& header,
                                        uint64_t address) {
    LinkIndex index;
    H5Cursor c(header, address);
    const bool expected = c.Bytes(4) == "BTHD" && c.Uint(1) == 0 && c.Uint(1) == 5;
    const uint64_t node_bytes = c.Uint(4);
    index.record_bytes_ = c.Uint(2);
    const uint64_t depth = c.Uint(2);
    c.Skip(2);
    index.root_ = {c.Uint(8), c.Uint(2), depth};
    FIRN_RETURN_IF_ERROR(file.Check(c, "link index"));
    if (!expected || index.record_bytes_ < 5 || depth > 16 || node_bytes < 64 ||
        node_bytes > (1 << 20)) {
      return file.DamagedAt(address, "link index", "not the header that is expected");
    }
    index.FindPointerSizes(node_bytes, depth);
    return index;
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
          file.ReadChecked(node.address, 6 + node.records * record_bytes_ + pointers + 4,
                           "link index"));
      H5Cursor c(bytes, node.address);
      if (c.Bytes(4) != (node.level == 0 ? "BTLF" : "BTIN")) {
        return file.DamagedAt(node.address, "link index", "not the node that is expected");
      }
      c.Skip(2);
      for (uint64_t i = 0; i < node.records; ++i) {
        const uint64_t offset = c.offset();
        H5Cursor record(c.Bytes(record_bytes_), offset);
        record.Skip(4);
        FIRN_RETURN_IF_ERROR(f(record));
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
    count_bytes_ = BytesFor(in_leaf);
    uint64_t below = in_leaf, below_bytes = 0;
    pointer_bytes_ = {0};
    for (uint64_t level = 1; level <= depth; ++level) {
      const uint64_t pointer = 8 + count_bytes_ + below_bytes;
      pointer_bytes_.push_back(pointer);
      const uint64_t in_node =
          (node_bytes - std::min(node_bytes, kFrame + pointer)) / (record_bytes_ + pointer);
      below = std::min<uint64_t>((in_node + 1) * below + in_node, uint64_t{1} << 40);
      below_bytes = BytesFor(below);
    }
  }

  uint64_t record_bytes_ = 0, count_bytes_ = 0;
  std::vector<uint64_t> pointer_bytes_;  // by level
  Node root_;
};

}  // namespace

absl::Status ForEachHeapObject(H5File& file, uint64_t heap_address, uint64_t index_address,
                               absl::FunctionRef<absl::Status(H5Cursor)> f) {
  FIRN_ASSIGN_OR_RETURN(const Heap heap, Heap::Read(file, heap_address));
  FIRN_ASSIGN_OR_RETURN(const std::string header,
                        file.ReadChecked(index_address, 38, "link index"));
  FIRN_ASSIGN_OR_RETURN(const LinkIndex index, LinkIndex::Read(file, header, index_address));
  return index.ForEach(file, [&](H5Cursor id) -> absl::Status {
    uint64_t address = 0;
    FIRN_ASSIGN_OR_RETURN(const std::string object, heap.Get(file, id, &address));
    return f(H5Cursor(object, address));
  });
}

}  // namespace firn::io::internal

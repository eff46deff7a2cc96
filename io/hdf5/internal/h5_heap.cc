// A fractal heap is one address space cut into blocks by a *doubling table*: rows of `width`
// blocks, of `start` bytes in rows 0 and 1 and of twice as many in each row after. Rows of blocks
// up to `max_direct` bytes point to direct blocks, which hold objects; later rows to indirect
// blocks, which cut their piece of the space by a table of the same form. The root is one direct
// block of `start` bytes (no rows) or an indirect block. An object is named by offset and length.
//
// Where the objects are is in a version 2 B-tree (h5_btree2), by the checksums of their names. All
// these structures end in a checksum, but direct blocks, which have one in front of their objects.
#include "firn/io/hdf5/internal/h5_heap.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_btree2.h"

namespace firn::io::internal {
namespace {

struct DirectBlock {
  uint64_t begin = 0, size = 0;  // in the heap's space
  uint64_t address = 0;
  std::string bytes = {};  // read and checked when an object of it is asked for
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
  absl::StatusOr<std::string> Get(H5File& file, H5Cursor id, uint64_t* address) {
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
    DirectBlock& block = *(after - 1);
    if (block.bytes.empty()) {
      FIRN_ASSIGN_OR_RETURN(block.bytes, ReadBlock(file, block));
    }
    *address = block.address + (offset - block.begin);
    FIRN_RETURN_IF_ERROR(file.ChargeMetadata(length));
    return block.bytes.substr(offset - block.begin, length);
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
    c.Skip(9);
    has_checksums_ = (c.Uint(1) & 2) != 0;
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
    length_bytes_ = std::min(H5BytesFor(max_direct_), H5BytesFor(max_object));
    return absl::OkStatus();
  }

  // "FHDB", version, address of the header, offset in the heap, a checksum of the whole block with
  // zeros in its own place if the heap has them, objects.
  absl::StatusOr<std::string> ReadBlock(H5File& file, const DirectBlock& block) const {
    constexpr const char* kField = "heap block of objects";
    FIRN_ASSIGN_OR_RETURN(std::string bytes, file.ReadMetadata(block.address, block.size, kField));
    H5Cursor c(bytes, block.address);
    if (c.Bytes(4) != "FHDB") return file.DamagedAt(block.address, kField, "expected FHDB");
    if (!has_checksums_) return bytes;
    c.Skip(1 + 8 + offset_bytes_);
    const size_t at = c.at();
    const uint64_t stored = c.Uint(4);
    FIRN_RETURN_IF_ERROR(file.Check(c, kField));
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at), 4, '\0');
    if (H5Checksum(bytes) != stored) {
      return file.DamagedAt(block.address, kField, "the checksum is wrong");
    }
    return bytes;
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
          // So many rows as fill `size`: width * start * 2^(rows - 1).
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
  bool has_checksums_ = false;
  uint64_t root_ = 0, root_rows_ = 0;
  std::vector<DirectBlock> blocks_;  // by begin
};

}  // namespace

// Records: of a link the checksum of its name 4 and its heap id; of an attribute its heap id 8,
// flags 1, a number of its creation 4 and the checksum of its name 4.
absl::Status ForEachHeapObject(H5File& file, uint64_t heap_address, uint64_t index_address,
                               H5HeapIndex index, absl::Span<const std::string_view> names,
                               absl::FunctionRef<absl::Status(H5Cursor)> f) {
  constexpr uint64_t kShared = 2;
  const bool links = index == H5HeapIndex::kLinks;
  std::vector<uint64_t> wanted;
  for (const std::string_view name : names) wanted.push_back(H5Checksum(name));
  std::optional<Heap> heap;  // read when there is something to get
  const auto visit = [&](H5Cursor record) -> absl::Status {
    uint64_t name = links ? record.Uint(4) : 0, flags = 0;
    const H5Cursor id = record;
    if (!links) {
      record.Skip(8);
      flags = record.Uint(1);
      record.Skip(4);
      name = record.Uint(4);
    }
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) {
      return absl::OkStatus();
    }
    if ((flags & kShared) != 0) return file.Refused("an attribute in the heap of shared messages");
    if (!heap.has_value()) {
      FIRN_ASSIGN_OR_RETURN(heap, Heap::Read(file, heap_address));
    }
    uint64_t address = 0;
    FIRN_ASSIGN_OR_RETURN(const std::string object, heap->Get(file, id, &address));
    return f(H5Cursor(object, address));
  };
  const uint64_t least_bytes = links ? 4 + 1 : 8 + 1 + 4 + 4;
  return ForEachH5Record(file, index_address, static_cast<uint64_t>(index), least_bytes, visit);
}

}  // namespace firn::io::internal

// An extensible array of chunks. Its entries are cut into blocks that grow: entries 0 to `first` -
// 1 stand in the index block; then come super blocks 0, 1, ..., of which the s-th has 2^(s/2) data
// blocks of 2^((s+1)/2) * `least` entries each (whole quotients). Data blocks of the first super
// blocks, 2 * log2( `pointers`) of them, are named by the index block itself; later super blocks
// are named themselves. A data block of more than a page is cut into pages, of which bits of the
// super block say whether they were written.
//
//   header       "EAHD", version, kind, bytes of an entry, bits of the largest number, `first`,
//                `least`, `pointers`, bits of a page, six counts of 8 bytes, the index block 8
//   index block  "EAIB", version, kind, header 8, entries, data blocks 8 each, super blocks 8 each
//   super block  "EASB", version, kind, header 8, place, bits of pages, data blocks 8 each
//   data block   "EADB", version, kind, header 8, place, entries
// and a checksum at the end of each, and of each page; pages follow a data block that has no
// entries.
#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_index.h"

namespace firn::io::internal {
namespace {

constexpr const char* kField = "extensible array";

class Array {
 public:
  Array(H5File& file, uint64_t address, const H5IndexEntry& entry, H5IndexVisit f)
      : file_(file), address_(address), entry_(entry), f_(f) {}

  absl::Status Visit() {
    FIRN_RETURN_IF_ERROR(ReadHeader());
    if (index_block_ == kH5Undefined) return absl::OkStatus();
    // Super blocks whose data blocks the index block names.
    const uint64_t direct = 2 * static_cast<uint64_t>(std::bit_width(pointers_) - 1);
    const uint64_t supers = 1 + bits_ - static_cast<uint64_t>(std::bit_width(least_) - 1);
    if (direct > supers) return Bad(address_, "impossible sizes");
    const uint64_t direct_blocks = 2 * (pointers_ - 1);
    const uint64_t bytes = 14 + first_ * entry_.bytes() + 8 * (direct_blocks + supers - direct) + 4;
    FIRN_ASSIGN_OR_RETURN(const std::string block, Read(index_block_, bytes, "EAIB"));
    H5Cursor c(block, index_block_);
    c.Skip(14);
    for (uint64_t i = 0; i < first_; ++i) f_(i, entry_.Read(&c));
    uint64_t number = first_;
    for (uint64_t s = 0; s < supers; ++s) {
      const uint64_t blocks = uint64_t{1} << s / 2, entries = (uint64_t{1} << (s + 1) / 2) * least_;
      if (s >= direct) {
        FIRN_RETURN_IF_ERROR(VisitSuper(c.Uint(8), number, blocks, entries));
        number += blocks * entries;
        continue;
      }
      for (uint64_t b = 0; b < blocks; ++b, number += entries) {
        FIRN_RETURN_IF_ERROR(VisitData(c.Uint(8), number, entries, {}, 0));
      }
    }
    return file_.Check(c, kField);
  }

 private:
  absl::Status Bad(uint64_t address, const char* what) const {
    return file_.DamagedAt(address, kField, what);
  }

  absl::Status ReadHeader() {
    FIRN_ASSIGN_OR_RETURN(const std::string header, file_.ReadChecked(address_, 72, kField));
    H5Cursor c(header, address_);
    const bool is_header = c.Bytes(4) == "EAHD" && c.Uint(1) == 0;
    kind_ = c.Uint(1);
    const uint64_t entry_bytes = c.Uint(1);
    bits_ = c.Uint(1);
    first_ = c.Uint(1);
    least_ = c.Uint(1);
    pointers_ = c.Uint(1);
    const uint64_t page_bits = c.Uint(1);
    c.Skip(48);
    index_block_ = c.Uint(8);
    entry_.size_bytes = entry_.filtered ? entry_bytes - 12 : 0;
    if (!is_header || kind_ != (entry_.filtered ? 1 : 0) || entry_.bytes() != entry_bytes ||
        entry_.size_bytes > 8) {
      return Bad(address_, "not the header that is expected");
    }
    if (!std::has_single_bit(least_) || !std::has_single_bit(pointers_) || bits_ > 48 ||
        bits_ < static_cast<uint64_t>(std::bit_width(least_)) || page_bits > bits_) {
      return Bad(address_, "impossible sizes");
    }
    page_ = uint64_t{1} << page_bits;
    place_bytes_ = (bits_ + 7) / 8;
    return absl::OkStatus();
  }

  // A block with its checksum right, of which the first 14 bytes are looked at.
  absl::StatusOr<std::string> Read(uint64_t address, uint64_t bytes, std::string_view name) {
    FIRN_ASSIGN_OR_RETURN(std::string block, file_.ReadChecked(address, bytes, kField));
    H5Cursor c(block, address);
    if (c.Bytes(4) != name || c.Uint(1) != 0 || c.Uint(1) != kind_ || c.Uint(8) != address_) {
      return Bad(address, "not the block that is expected");
    }
    return block;
  }

  uint64_t PagesOf(uint64_t entries) const { return entries > page_ ? entries / page_ : 0; }

  absl::Status VisitSuper(uint64_t address, uint64_t number, uint64_t blocks, uint64_t entries) {
    if (address == kH5Undefined) return absl::OkStatus();
    const uint64_t pages = PagesOf(entries), bit_bytes = blocks * ((pages + 7) / 8);
    FIRN_ASSIGN_OR_RETURN(const std::string block,
                          Read(address, 14 + place_bytes_ + bit_bytes + 8 * blocks + 4, "EASB"));
    H5Cursor c(block, address);
    c.Skip(14 + place_bytes_);
    const std::string_view written = c.Bytes(bit_bytes);
    for (uint64_t b = 0; b < blocks; ++b, number += entries) {
      FIRN_RETURN_IF_ERROR(VisitData(c.Uint(8), number, entries, written, b * pages));
    }
    return file_.Check(c, kField);
  }

  // `written`: bits of pages, from `bit` on those of this block.
  absl::Status VisitData(uint64_t address, uint64_t number, uint64_t entries,
                         std::string_view written, uint64_t bit) {
    if (address == kH5Undefined) return absl::OkStatus();
    const uint64_t pages = PagesOf(entries), before = 14 + place_bytes_;
    if (entries > static_cast<uint64_t>(file_.size())) {
      return Bad(address, "its entries lie outside the file");
    }
    const uint64_t bytes = before + (pages == 0 ? entries * entry_.bytes() : 0) + 4;
    FIRN_ASSIGN_OR_RETURN(const std::string block, Read(address, bytes, "EADB"));
    if (pages == 0) {
      H5Cursor c(block, address);
      c.Skip(before);
      for (uint64_t i = 0; i < entries; ++i) f_(number + i, entry_.Read(&c));
      return absl::OkStatus();
    }
    uint64_t at = address + bytes;
    for (uint64_t p = 0; p < pages; ++p, ++bit, at += page_ * entry_.bytes() + 4) {
      // For blocks that the index block names, nothing says which pages were written: HDF5 never
      // makes pages so small that such a block would have any.
      if (bit / 8 >= written.size()) return Bad(address, "pages without their bits");
      if ((static_cast<unsigned char>(written[bit / 8]) & 0x80 >> bit % 8) == 0) continue;
      FIRN_ASSIGN_OR_RETURN(const std::string page,
                            file_.ReadChecked(at, page_ * entry_.bytes() + 4, kField));
      H5Cursor c(page, at);
      for (uint64_t i = 0; i < page_; ++i) f_(number + p * page_ + i, entry_.Read(&c));
    }
    return absl::OkStatus();
  }

  H5File& file_;
  const uint64_t address_;
  H5IndexEntry entry_;
  const H5IndexVisit f_;
  uint64_t kind_ = 0, bits_ = 0, first_ = 0, least_ = 0, pointers_ = 0, page_ = 1;
  uint64_t place_bytes_ = 0, index_block_ = 0;
};

}  // namespace

absl::Status VisitH5ExtensibleArray(H5File& file, uint64_t address, H5IndexEntry entry,
                                    H5IndexVisit f) {
  return Array(file, address, entry, f).Visit();
}

}  // namespace firn::io::internal

// Chunks are numbered along the grid that the largest array would have, row-major; in an extensible
// array the dimension without bound counts as the first. An index gives each number an address:
//   single there is one chunk, which the layout describes
//   implicit    all were written at once, one behind the other, without filters
//   fixed       an array ("FAHD", "FADB"), which may be cut into pages of 2^k entries; a bit for
//               each page says whether it was written
//   extensible  an array that grows by blocks (h5_extensible)
//   tree 2      records of a version 2 B-tree, which have the place in the grid
// An entry of an array is an address and, where there are filters, the stored bytes and which
// filters were left out. All but single and implicit end in checksums.
#include "firn/io/hdf5/internal/h5_index.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_btree2.h"

namespace firn::io::internal {
namespace {

// Where the chunk of a number lies.
class Numbering {
 public:
  static absl::StatusOr<Numbering> Make(const H5File& file, const H5Plan& plan,
                                        const H5Grid& grid) {
    Numbering n(grid);
    const size_t rank = grid.array.size();
    const auto sizes = plan.most.span();
    const auto unbounded = std::find(sizes.begin(), sizes.end(), -1);
    const bool extensible = plan.layout.index == H5Layout::kExtensibleArray;
    if (extensible != (unbounded != sizes.end()) ||
        std::count(sizes.begin(), sizes.end(), -1) > 1) {
      return file.DamagedAt(plan.offset, "chunks", "their index does not fit the dataspace");
    }
    if (extensible) n.order_.push_back(static_cast<size_t>(unbounded - sizes.begin()));
    for (size_t d = 0; d < rank; ++d) {
      if (sizes[d] != -1) n.order_.push_back(d);
    }
    uint64_t step = 1;
    n.steps_.resize(rank);
    for (size_t k = rank; k-- > 0;) {
      n.steps_[k] = step;
      const size_t d = n.order_[k];
      if (k == 0 && extensible) break;
      const auto most = static_cast<uint64_t>(sizes[d]);
      const auto size = static_cast<uint64_t>(grid.chunk[d]);
      if (__builtin_mul_overflow(step, most / size + (most % size != 0 ? 1 : 0), &step)) {
        return file.DamagedAt(plan.offset, "chunks", "more than can be counted");
      }
    }
    return n;
  }

  // False: not in the present array.
  bool Place(uint64_t number, std::vector<int64_t>* at) const {
    at->resize(steps_.size());
    for (size_t k = 0; k < steps_.size(); ++k) {
      const size_t d = order_[k];
      const uint64_t place = number / steps_[k];
      number %= steps_[k];
      if (place > static_cast<uint64_t>((grid_.array[d] - 1) / grid_.chunk[d])) return false;
      (*at)[d] = static_cast<int64_t>(place) * grid_.chunk[d];
    }
    return true;
  }

  // The number of the chunk at a place of the grid.
  uint64_t Number(const std::vector<int64_t>& place) const {
    uint64_t number = 0;
    for (size_t k = 0; k < steps_.size(); ++k) {
      number += static_cast<uint64_t>(place[order_[k]]) * steps_[k];
    }
    return number;
  }

 private:
  explicit Numbering(const H5Grid& grid) : grid_(grid) {}

  const H5Grid& grid_;
  std::vector<size_t> order_;    // the dimensions, the slowest first
  std::vector<uint64_t> steps_;  // in that order
};

absl::StatusOr<std::vector<H5Chunk>> OneChunk(const H5File& file, const H5Plan& plan,
                                              const H5Grid& grid) {
  const H5Layout& layout = plan.layout;
  if (grid.chunks != 1 || layout.filtered == plan.filters.empty()) {
    return file.DamagedAt(plan.offset, "chunks", "a single one does not fit the dataset");
  }
  H5Chunk chunk;
  chunk.address = layout.address;
  chunk.stored_bytes =
      layout.filtered ? layout.stored_bytes : static_cast<uint64_t>(grid.chunk_bytes);
  chunk.skipped_filters = layout.skipped_filters;
  chunk.at.assign(grid.array.size(), 0);
  return std::vector<H5Chunk>{std::move(chunk)};
}

absl::StatusOr<std::vector<H5Chunk>> ImplicitChunks(const H5File& file, const H5Plan& plan,
                                                    const H5Grid& grid) {
  if (!plan.filters.empty()) {
    return file.DamagedAt(plan.offset, "chunks", "an implicit index of chunks with filters");
  }
  FIRN_ASSIGN_OR_RETURN(const Numbering numbering, Numbering::Make(file, plan, grid));
  if (grid.chunks > file.size() / grid.chunk_bytes) {
    return file.DamagedAt(
        plan.offset, "chunks",
        absl::StrCat(grid.chunks, " of ", grid.chunk_bytes, " bytes lie outside the file"));
  }
  // The memory that a chunk takes here; in the file it may have as little as one byte.
  const auto each = static_cast<int64_t>(sizeof(H5Chunk)) + 8 * grid.rank();
  if (grid.chunks > file.limits().max_metadata_bytes / each) {
    return ResourceExhausted(file.name(), ": an index of ", grid.chunks, " chunks takes more than ",
                             "the ", file.limits().max_metadata_bytes,
                             " bytes allowed (limits.max_metadata_bytes)");
  }
  std::vector<H5Chunk> chunks;
  chunks.reserve(static_cast<size_t>(grid.chunks));
  std::vector<int64_t> place(grid.array.size(), 0);
  for (int64_t i = 0; i < grid.chunks; ++i) {
    H5Chunk chunk;
    const uint64_t number = numbering.Number(place);
    chunk.stored_bytes = static_cast<uint64_t>(grid.chunk_bytes);
    if (__builtin_mul_overflow(number, chunk.stored_bytes, &chunk.address) ||
        __builtin_add_overflow(chunk.address, plan.layout.address, &chunk.address)) {
      return file.DamagedAt(plan.offset, "chunks", "they lie outside the file");
    }
    numbering.Place(number, &chunk.at);
    chunks.push_back(std::move(chunk));
    for (size_t d = place.size(); d-- > 0;) {  // the next place, row-major
      if (++place[d] <= (grid.array[d] - 1) / grid.chunk[d]) break;
      place[d] = 0;
    }
  }
  return chunks;
}

// Records: an address, with filters the stored bytes and the filters left out, and the place in the
// grid, 8 bytes a dimension.
absl::StatusOr<std::vector<H5Chunk>> TreeChunks(H5File& file, const H5Plan& plan,
                                                const H5Grid& grid) {
  constexpr uint64_t kPlain = 10, kFiltered = 11;
  const bool filtered = !plan.filters.empty();
  const uint64_t places = 8 * static_cast<uint64_t>(grid.rank());
  const uint64_t fixed = 8 + places + (filtered ? 4 : 0);
  std::vector<H5Chunk> chunks;
  const auto add = [&](H5Cursor c) -> absl::Status {
    H5IndexEntry entry{.filtered = filtered,
                       .size_bytes = c.left() - fixed,
                       .chunk_bytes = static_cast<uint64_t>(grid.chunk_bytes)};
    if (entry.size_bytes > 8 || (!filtered && entry.size_bytes != 0)) {
      return file.DamagedAt(c.offset(), "tree index", "records of an impossible size");
    }
    H5Chunk chunk = entry.Read(&c);
    chunk.at.reserve(grid.array.size());
    for (int d = 0; d < grid.rank(); ++d) {
      const uint64_t place = c.Uint(8);
      const auto k = static_cast<size_t>(d);
      if (place > static_cast<uint64_t>((grid.array[k] - 1) / grid.chunk[k])) {
        return file.DamagedAt(c.offset(), "chunk", "it has no place in the array");
      }
      chunk.at.push_back(static_cast<int64_t>(place) * grid.chunk[k]);
    }
    if (chunk.address != kH5Undefined) chunks.push_back(std::move(chunk));
    return absl::OkStatus();
  };
  FIRN_RETURN_IF_ERROR(ForEachH5Record(file, plan.layout.address, filtered ? kFiltered : kPlain,
                                       fixed + (filtered ? 1 : 0), add));
  return chunks;
}

}  // namespace

H5Chunk H5IndexEntry::Read(H5Cursor* c) const {
  H5Chunk chunk;
  chunk.address = c->Uint(8);
  chunk.stored_bytes = filtered ? c->Uint(size_bytes) : chunk_bytes;
  chunk.skipped_filters = filtered ? c->Uint(4) : 0;
  return chunk;
}

// Header: "FAHD", version, kind, bytes of an entry, k, entries 8, address of the block 8, checksum.
// Block: "FADB", version, kind, address of the header 8; without pages entries and a checksum; with
// pages their bits, the first one being the highest of a byte, a checksum, then pages of entries
// with a checksum each.
absl::Status VisitH5FixedArray(H5File& file, uint64_t address, H5IndexEntry entry, H5IndexVisit f) {
  constexpr const char* kField = "fixed array";
  FIRN_ASSIGN_OR_RETURN(const std::string header, file.ReadChecked(address, 28, kField));
  H5Cursor h(header, address);
  const bool is_header = h.Bytes(4) == "FAHD" && h.Uint(1) == 0;
  const uint64_t kind = h.Uint(1), entry_bytes = h.Uint(1), page_bits = h.Uint(1);
  const uint64_t n = h.Uint(8), at = h.Uint(8);
  entry.size_bytes = entry.filtered ? entry_bytes - 12 : 0;
  if (!is_header || kind != (entry.filtered ? 1 : 0) || entry.bytes() != entry_bytes ||
      entry.size_bytes > 8 || page_bits > 32) {
    return file.DamagedAt(address, kField, "not the header that is expected");
  }
  if (at == kH5Undefined) return absl::OkStatus();
  const auto size = static_cast<uint64_t>(file.size());
  const uint64_t page = uint64_t{1} << page_bits;
  const bool paged = n > page;
  const uint64_t pages = paged ? n / page + (n % page != 0 ? 1 : 0) : 0;
  if (paged ? pages / 8 > size : n > size / entry_bytes) {
    return file.DamagedAt(address, kField, absl::StrCat(n, " entries lie outside the file"));
  }
  const uint64_t prefix = 14 + (paged ? (pages + 7) / 8 : n * entry_bytes) + 4;
  FIRN_ASSIGN_OR_RETURN(const std::string block, file.ReadChecked(at, prefix, kField));
  H5Cursor b(block, at);
  if (b.Bytes(4) != "FADB" || b.Uint(1) != 0 || b.Uint(1) != kind || b.Uint(8) != address) {
    return file.DamagedAt(at, kField, "not the block that is expected");
  }
  if (!paged) {
    for (uint64_t i = 0; i < n; ++i) f(i, entry.Read(&b));
    return file.Check(b, kField);
  }
  const std::string_view written = b.Bytes((pages + 7) / 8);
  uint64_t page_at = at + prefix;
  for (uint64_t p = 0; p < pages; ++p, page_at += page * entry_bytes + 4) {
    if ((static_cast<unsigned char>(written[p / 8]) & 0x80 >> p % 8) == 0) continue;
    const uint64_t here = std::min(page, n - p * page);
    FIRN_ASSIGN_OR_RETURN(const std::string bytes,
                          file.ReadChecked(page_at, here * entry_bytes + 4, kField));
    H5Cursor c(bytes, page_at);
    for (uint64_t i = 0; i < here; ++i) f(p * page + i, entry.Read(&c));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<H5Chunk>> ReadH5Index(H5File& file, const H5Plan& plan,
                                                 const H5Grid& grid) {
  const H5Layout& layout = plan.layout;
  if (layout.index == H5Layout::kSingle) return OneChunk(file, plan, grid);
  if (layout.index == H5Layout::kImplicit) return ImplicitChunks(file, plan, grid);
  if (layout.index == H5Layout::kTree2) return TreeChunks(file, plan, grid);
  FIRN_ASSIGN_OR_RETURN(const Numbering numbering, Numbering::Make(file, plan, grid));
  std::vector<H5Chunk> chunks;
  const auto add = [&](uint64_t number, H5Chunk chunk) {
    if (chunk.address == kH5Undefined || !numbering.Place(number, &chunk.at)) return;
    chunks.push_back(std::move(chunk));
  };
  const H5IndexEntry entry{.filtered = !plan.filters.empty(),
                           .chunk_bytes = static_cast<uint64_t>(grid.chunk_bytes)};
  FIRN_RETURN_IF_ERROR(layout.index == H5Layout::kFixedArray
                           ? VisitH5FixedArray(file, layout.address, entry, add)
                           : VisitH5ExtensibleArray(file, layout.address, entry, add));
  return chunks;
}

}  // namespace firn::io::internal

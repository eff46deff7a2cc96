// All chunks are found and checked before the first is read.
#include "firn/io/hdf5/internal/h5_chunks.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_index.h"

namespace firn::io::internal {
namespace {

// Reads one node of the tree: chunks of a leaf, addresses of the nodes below otherwise.
absl::Status ReadChunkNode(H5File& file, uint64_t address, int rank, int64_t expected_level,
                           int64_t* level, std::vector<H5Chunk>* children) {
  FIRN_ASSIGN_OR_RETURN(const std::string header, file.ReadMetadata(address, 24, "chunk tree"));
  H5Cursor h(header, address);
  const bool is_tree = h.Bytes(4) == "TREE" && h.Uint(1) == 1;
  *level = static_cast<int64_t>(h.Uint(1));
  const uint64_t n = h.Uint(2);
  if (!is_tree || (expected_level >= 0 && *level != expected_level)) {
    return file.DamagedAt(address, "chunk tree", "not the node that is expected");
  }
  // Each child: bytes in the file 4, skipped filters 4, position 8 per dimension and one more,
  // which is 0, and the address.
  const uint64_t entry = 8 + 8 * (static_cast<uint64_t>(rank) + 1) + 8;
  FIRN_ASSIGN_OR_RETURN(const std::string bytes,
                        file.ReadMetadata(address + 24, n * entry, "chunk tree"));
  H5Cursor c(bytes, address + 24);
  for (uint64_t i = 0; i < n; ++i) {
    H5Chunk child;
    child.stored_bytes = c.Uint(4);
    child.skipped_filters = c.Uint(4);
    child.at.reserve(static_cast<size_t>(rank));
    for (int d = 0; d < rank; ++d) child.at.push_back(static_cast<int64_t>(c.Uint(8)));
    const bool whole = c.Uint(8) == 0;
    child.address = c.Uint(8);
    // HDF5 looks for a chunk by its key, so it would not find a chunk that is out of order.
    if (!whole || (i > 0 && !(children->back().at < child.at))) {
      return file.DamagedAt(address, "chunk tree", "its keys are out of order");
    }
    children->push_back(std::move(child));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<H5Chunk>> WalkTree(H5File& file, const H5Plan& plan,
                                              const H5Grid& grid) {
  struct Node {
    uint64_t address;
    int64_t level;
  };
  std::vector<Node> todo = {{plan.layout.address, -1}};
  std::set<uint64_t> seen;
  std::vector<H5Chunk> chunks;
  while (!todo.empty()) {
    const Node node = todo.back();
    todo.pop_back();
    if (!seen.insert(node.address).second) {
      return file.DamagedAt(node.address, "chunk tree", "a node is named twice");
    }
    int64_t level = 0;
    std::vector<H5Chunk> children;
    FIRN_RETURN_IF_ERROR(
        ReadChunkNode(file, node.address, grid.rank(), node.level, &level, &children));
    for (H5Chunk& child : children) {
      if (level > 0) {
        todo.push_back({child.address, level - 1});
      } else {
        chunks.push_back(std::move(child));
      }
    }
  }
  return chunks;
}

// Whether the chunk reaches beyond the array and, by the layout, therefore has no filters.
bool IsPlain(const H5Plan& plan, const H5Grid& grid, const H5Chunk& chunk) {
  if (!plan.layout.plain_border) return false;
  for (size_t d = 0; d < chunk.at.size(); ++d) {
    if (chunk.at[d] + grid.chunk[d] > grid.array[d]) return true;
  }
  return false;
}

// Checks that no two chunks have one place, and that each can hold its elements.
absl::Status CheckChunks(const H5File& file, const H5Plan& plan, const H5Grid& grid,
                         std::vector<H5Chunk>& chunks, H5Budget* budget) {
  std::vector<int64_t> places;  // in the grid, row-major
  places.reserve(chunks.size());
  const bool resized = ChangesSize(plan.filters);
  const int64_t expansion = std::max<int64_t>(file.limits().max_expansion, 1);
  for (H5Chunk& chunk : chunks) {
    int64_t place = 0;
    for (size_t d = 0; d < chunk.at.size(); ++d) {
      if (chunk.at[d] < 0 || chunk.at[d] >= grid.array[d] || chunk.at[d] % grid.chunk[d] != 0) {
        return file.DamagedAt(chunk.address, "chunk", "it has no place in the array");
      }
      place = place * ((grid.array[d] - 1) / grid.chunk[d] + 1) + chunk.at[d] / grid.chunk[d];
    }
    places.push_back(place);
    if (IsPlain(plan, grid, chunk)) chunk.skipped_filters = ~uint64_t{0};
    const auto stored = static_cast<int64_t>(chunk.stored_bytes);
    if (stored < 0 ||
        (resized ? stored < grid.chunk_bytes / expansion : stored != grid.chunk_bytes)) {
      return file.DamagedAt(
          chunk.address, "chunk",
          absl::StrCat("expected ", grid.chunk_bytes, " bytes",
                       resized ? " as filters leave them" : "", ", got ", stored));
    }
    FIRN_RETURN_IF_ERROR(ClaimH5Bytes(file, chunk.address, chunk.stored_bytes, budget));
  }
  std::sort(places.begin(), places.end());
  const auto twice = std::adjacent_find(places.begin(), places.end());
  if (twice != places.end()) {
    return file.DamagedAt(plan.offset, "chunks",
                          absl::StrCat("two have the place ", *twice, " in the array"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<H5Grid> MakeH5Grid(const H5File& file, const H5Plan& plan) {
  H5Grid grid;
  const size_t rank = static_cast<size_t>(plan.shape.rank());
  if (rank == 0 || plan.layout.chunk.size() != rank + 1 ||
      plan.layout.chunk.back() != static_cast<uint64_t>(plan.type.bytes)) {
    return file.DamagedAt(plan.offset, "chunks", "they do not fit the dataset");
  }
  grid.chunk_bytes = plan.type.bytes;
  grid.array.reserve(rank);
  grid.chunk.reserve(rank);
  for (size_t d = 0; d < rank; ++d) {
    grid.array.push_back(plan.shape[static_cast<int>(d)]);
    grid.chunk.push_back(static_cast<int64_t>(plan.layout.chunk[d]));
    grid.chunk_bytes *= grid.chunk[d];                                   // at most 2^32
    grid.chunks *= (grid.array[d] + grid.chunk[d] - 1) / grid.chunk[d];  // at most num_elements
  }
  return grid;
}

absl::StatusOr<std::vector<H5Chunk>> ListH5Chunks(H5File& file, const H5Plan& plan,
                                                  const H5Grid& grid, H5Budget* budget) {
  std::vector<H5Chunk> chunks;
  if (plan.layout.address == kH5Undefined) return chunks;
  if (plan.layout.index == H5Layout::kTree) {
    FIRN_ASSIGN_OR_RETURN(chunks, WalkTree(file, plan, grid));
  } else {
    FIRN_ASSIGN_OR_RETURN(chunks, ReadH5Index(file, plan, grid));
  }
  FIRN_RETURN_IF_ERROR(CheckChunks(file, plan, grid, chunks, budget));
  return chunks;
}

absl::StatusOr<const char*> H5ChunkReader::Read(const H5Chunk& chunk) {
  char* const stored = elements_.Resize(chunk.stored_bytes);
  FIRN_RETURN_IF_ERROR(file_.file().ReadAt(static_cast<int64_t>(chunk.address), stored,
                                           static_cast<int64_t>(chunk.stored_bytes), "chunk"));
  FIRN_RETURN_IF_ERROR(unfilter_.Run(file_, plan_.filters, chunk.skipped_filters, chunk.address,
                                     static_cast<size_t>(grid_.chunk_bytes), &elements_));
  return elements_.data();
}

int64_t H5ChunkElements(const H5Grid& grid, const H5Chunk& chunk) {
  int64_t n = 1;
  for (size_t d = 0; d < grid.array.size(); ++d) {
    n *= std::min(grid.chunk[d], grid.array[d] - chunk.at[d]);
  }
  return n;
}

void CopyH5Chunk(const H5Grid& grid, const H5Chunk& chunk, int64_t element_bytes, const char* from,
                 char* to) {
  const size_t rank = grid.array.size(), last = rank - 1;
  std::vector<int64_t> extent(rank), row(rank, 0);
  for (size_t d = 0; d < rank; ++d) {
    extent[d] = std::min(grid.chunk[d], grid.array[d] - chunk.at[d]);
  }
  for (;;) {
    int64_t source = 0, target = 0;
    for (size_t d = 0; d < rank; ++d) {
      source = source * grid.chunk[d] + row[d];
      target = target * grid.array[d] + chunk.at[d] + row[d];
    }
    std::memcpy(to + target * element_bytes, from + source * element_bytes,
                static_cast<size_t>(extent[last] * element_bytes));
    size_t d = last;
    while (d-- > 0 && ++row[d] == extent[d]) row[d] = 0;
    if (d == static_cast<size_t>(-1)) return;  // all rows above the last dimension are done
  }
}

}  // namespace firn::io::internal

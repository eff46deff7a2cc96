// Contiguous elements are read straight into the tensor. Chunks are found through a version 1
// B-tree
// ("TREE", node type 1), whose keys say where a chunk lies in the array and how long it is in the
// file; all of them are collected and checked, then the tensor is made, then each chunk is unpacked
// and copied to its place. A chunk at the border is stored whole, and only its inner part counts.
#include "io/internal/h5_dataset.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "io/internal/h5_message.h"
#include "tensor/allocate.h"

namespace firn::io::internal {
namespace {

// A dataset as its messages describe it.
struct Plan {
  Shape shape;
  StoredType type;
  H5Layout layout;
  H5Filters filters;
  uint64_t offset = 0;  // of the layout message, for errors

  int64_t stored_bytes() const { return shape.num_elements() * type.bytes; }
};

absl::StatusOr<Plan> MakePlan(const H5File& file, const H5Object& dataset) {
  const H5Message* space = dataset.Find(H5Message::kDataspace);
  const H5Message* type = dataset.Find(H5Message::kDatatype);
  const H5Message* layout = dataset.Find(H5Message::kLayout);
  const H5Message* filters = dataset.Find(H5Message::kFilters);
  FIRN_RETURN_IF(!space || !type || !layout,
                 DataLoss(file.file().name(), ": an object is neither a group nor a dataset"));
  if (dataset.Find(H5Message::kExternalFiles)) return file.Refused("elements in other files");
  Plan plan;
  FIRN_ASSIGN_OR_RETURN(plan.shape, ParseH5Shape(file, space->cursor()));
  FIRN_ASSIGN_OR_RETURN(plan.type, ParseH5Type(file, type->cursor()));
  FIRN_ASSIGN_OR_RETURN(plan.layout, ParseH5Layout(file, layout->cursor()));
  if (filters != nullptr) {
    FIRN_ASSIGN_OR_RETURN(plan.filters, ParseH5Filters(file, filters->cursor()));
  }
  plan.offset = layout->offset;
  return plan;
}

// Takes the tensor's memory out of the budget, then allocates it.
absl::StatusOr<Tensor> Allocate(const H5File& file, const Plan& plan, H5Budget* budget) {
  const int64_t n = plan.shape.num_elements();
  if (n > budget->element_bytes / SizeOf(plan.type.dtype)) {
    return ResourceExhausted(file.file().name(), ": ", n, " elements of ",
                             DTypeName(plan.type.dtype), " take more than the ",
                             budget->element_bytes, " bytes that are left of those allowed");
  }
  budget->element_bytes -= n * SizeOf(plan.type.dtype);
  return AllocateTensor(TensorSpec::Contiguous(plan.type.dtype, plan.shape, Device::Cpu()),
                        AllocTag::kParameter);
}

// Takes `bytes` at `address` out of the stored budget.
absl::Status Claim(const H5File& file, uint64_t address, uint64_t bytes, H5Budget* budget) {
  const auto size = static_cast<uint64_t>(file.size());
  if (address > size || bytes > size - address) {
    return file.DamagedAt(address, "elements",
                          absl::StrCat(bytes, " bytes from here lie outside the file of ", size));
  }
  if (bytes > static_cast<uint64_t>(budget->stored_bytes)) {
    return file.DamagedAt(address, "elements", "several datasets claim the same bytes");
  }
  budget->stored_bytes -= static_cast<int64_t>(bytes);
  return absl::OkStatus();
}

absl::Status CheckStoredSize(const H5File& file, const Plan& plan, uint64_t got) {
  // num_elements() may be so large that times 8 overflows, but not times 1.
  if (plan.shape.num_elements() <= file.size() &&
      got == static_cast<uint64_t>(plan.stored_bytes())) {
    return absl::OkStatus();
  }
  return file.DamagedAt(plan.offset, "elements",
                        absl::StrCat("expected ", plan.shape.num_elements(), " of ",
                                     plan.type.bytes, " bytes, got ", got, " bytes"));
}

// --- Chunks --------------------------------------------------------------------------------------

struct Chunk {
  uint64_t stored_bytes = 0, skipped_filters = 0, address = 0;
  std::vector<int64_t> at;  // of its first element in the array
};

// Geometry of the chunks of a dataset that has elements.
struct Grid {
  std::vector<int64_t> array, chunk;  // sizes
  int64_t chunks = 1, chunk_bytes = 1;
  int rank() const { return static_cast<int>(array.size()); }
};

absl::StatusOr<Grid> MakeGrid(const H5File& file, const Plan& plan) {
  Grid grid;
  const size_t rank = static_cast<size_t>(plan.shape.rank());
  if (plan.layout.chunk.size() != rank + 1 ||
      plan.layout.chunk.back() != static_cast<uint64_t>(plan.type.bytes)) {
    return file.DamagedAt(plan.offset, "chunks", "they do not fit the dataset");
  }
  grid.chunk_bytes = plan.type.bytes;
  for (size_t d = 0; d < rank; ++d) {
    grid.array.push_back(plan.shape[static_cast<int>(d)]);
    grid.chunk.push_back(static_cast<int64_t>(plan.layout.chunk[d]));
    grid.chunk_bytes *= grid.chunk[d];                                   // at most 2^32
    grid.chunks *= (grid.array[d] + grid.chunk[d] - 1) / grid.chunk[d];  // at most num_elements
  }
  return grid;
}

// Reads one node of the tree: chunks of a leaf, addresses of the nodes below otherwise.
absl::Status ReadChunkNode(H5File& file, uint64_t address, int rank, int64_t expected_level,
                           int64_t* level, std::vector<Chunk>* children) {
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
    Chunk child;
    child.stored_bytes = c.Uint(4);
    child.skipped_filters = c.Uint(4);
    for (int d = 0; d < rank; ++d) child.at.push_back(static_cast<int64_t>(c.Uint(8)));
    c.Skip(8);
    child.address = c.Uint(8);
    children->push_back(std::move(child));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Chunk>> ListChunks(H5File& file, const Plan& plan, const Grid& grid) {
  struct Node {
    uint64_t address;
    int64_t level;
  };
  std::vector<Node> todo = {{plan.layout.address, -1}};
  std::set<uint64_t> seen;
  std::vector<Chunk> chunks;
  while (!todo.empty()) {
    const Node node = todo.back();
    todo.pop_back();
    if (!seen.insert(node.address).second) {
      return file.DamagedAt(node.address, "chunk tree", "a node is named twice");
    }
    int64_t level = 0;
    std::vector<Chunk> children;
    FIRN_RETURN_IF_ERROR(
        ReadChunkNode(file, node.address, grid.rank(), node.level, &level, &children));
    for (Chunk& child : children) {
      if (level > 0) {
        todo.push_back({child.address, level - 1});
      } else {
        chunks.push_back(std::move(child));
      }
    }
  }
  return chunks;
}

// All chunks of the grid are there, once, and can hold what they should.
absl::Status CheckChunks(const H5File& file, const Plan& plan, const Grid& grid,
                         const std::vector<Chunk>& chunks, H5Budget* budget) {
  if (static_cast<int64_t>(chunks.size()) != grid.chunks) {
    return file.DamagedAt(plan.offset, "chunks",
                          absl::StrCat("expected ", grid.chunks, ", got ", chunks.size()));
  }
  std::set<std::vector<int64_t>> seen;
  for (const Chunk& chunk : chunks) {
    bool inside = seen.insert(chunk.at).second;
    for (size_t d = 0; d < chunk.at.size(); ++d) {
      inside = inside && chunk.at[d] >= 0 && chunk.at[d] < grid.array[d] &&
               chunk.at[d] % grid.chunk[d] == 0;
    }
    if (!inside) return file.DamagedAt(chunk.address, "chunk", "it has no place in the array");
    const bool deflated = plan.filters.deflate;
    const auto stored = static_cast<int64_t>(chunk.stored_bytes);
    if (deflated ? stored < grid.chunk_bytes / file.limits().max_expansion
                 : stored != grid.chunk_bytes) {
      return file.DamagedAt(chunk.address, "chunk",
                            absl::StrCat("expected ", grid.chunk_bytes, " bytes",
                                         deflated ? " deflated" : "", ", got ", stored));
    }
    FIRN_RETURN_IF_ERROR(Claim(file, chunk.address, chunk.stored_bytes, budget));
  }
  return absl::OkStatus();
}

// Bytes 0 of all elements come first, then bytes 1 of all, ...
void Unshuffle(const std::string& in, size_t element_bytes, std::string* out) {
  const size_t n = in.size() / element_bytes;
  for (size_t b = 0; b < element_bytes; ++b) {
    for (size_t i = 0; i < n; ++i) (*out)[i * element_bytes + b] = in[b * n + i];
  }
}

// Reads one chunk as it was before the filters into `out`, which has the size of that.
absl::Status ReadChunk(const H5File& file, const Plan& plan, const Chunk& chunk,
                       std::string* packed, std::string* shuffled, std::string* out) {
  const size_t bytes = out->size();  // before `stored`, which may be `out`, gets its size
  const H5Filters& f = plan.filters;
  // Bit i of the mask: filter i was left out for this chunk.
  const bool shuffle = f.shuffle && (chunk.skipped_filters & 1) == 0;
  const bool deflate = f.deflate && (chunk.skipped_filters >> (f.shuffle ? 1 : 0) & 1) == 0;
  std::string* plain = shuffle ? shuffled : out;
  std::string* stored = deflate ? packed : plain;
  stored->resize(chunk.stored_bytes);
  FIRN_RETURN_IF_ERROR(file.file().ReadAt(static_cast<int64_t>(chunk.address), stored->data(),
                                          static_cast<int64_t>(chunk.stored_bytes), "chunk"));
  if (deflate) {
    plain->resize(bytes);
    uLongf got = bytes;
    uLong used = packed->size();
    const int code = uncompress2(reinterpret_cast<Bytef*>(plain->data()), &got,
                                 reinterpret_cast<const Bytef*>(packed->data()), &used);
    if (code != Z_OK || got != bytes || used != packed->size()) {
      return file.DamagedAt(chunk.address, "chunk", "damaged deflate data");
    }
  }
  if (plain->size() != bytes) {
    return file.DamagedAt(chunk.address, "chunk", "it has the wrong size");
  }
  if (shuffle) Unshuffle(*shuffled, static_cast<size_t>(plan.type.bytes), out);
  return absl::OkStatus();
}

// Copies the part of a chunk that lies in the array, row by row of the last dimension.
void CopyChunk(const Grid& grid, const Chunk& chunk, int64_t element_bytes, const char* from,
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

absl::StatusOr<Tensor> ReadChunked(H5File& file, const Plan& plan, H5Budget* budget) {
  if (plan.shape.num_elements() == 0) return Allocate(file, plan, budget);
  FIRN_ASSIGN_OR_RETURN(const Grid grid, MakeGrid(file, plan));
  if (grid.chunk_bytes > budget->element_bytes) {  // a chunk may be larger than the array
    return ResourceExhausted(file.file().name(), ": a chunk of ", grid.chunk_bytes,
                             " bytes takes more than the ", budget->element_bytes,
                             " bytes that are left of those allowed");
  }
  FIRN_ASSIGN_OR_RETURN(const std::vector<Chunk> chunks, ListChunks(file, plan, grid));
  FIRN_RETURN_IF_ERROR(CheckChunks(file, plan, grid, chunks, budget));
  FIRN_ASSIGN_OR_RETURN(Tensor tensor, Allocate(file, plan, budget));
  std::string packed, shuffled, elements;
  for (const Chunk& chunk : chunks) {
    elements.resize(static_cast<size_t>(grid.chunk_bytes));
    FIRN_RETURN_IF_ERROR(ReadChunk(file, plan, chunk, &packed, &shuffled, &elements));
    CopyChunk(grid, chunk, plan.type.bytes, elements.data(), tensor.impl()->data);
  }
  return tensor;
}

// --- Elements in one piece -----------------------------------------------------------------------

absl::StatusOr<Tensor> ReadContiguous(H5File& file, const Plan& plan, H5Budget* budget) {
  const H5Layout& layout = plan.layout;
  if (plan.shape.num_elements() == 0) return Allocate(file, plan, budget);
  if (layout.address == kH5Undefined) {
    return file.DamagedAt(plan.offset, "elements", "none were ever written");
  }
  FIRN_RETURN_IF_ERROR(CheckStoredSize(file, plan, layout.bytes));
  FIRN_RETURN_IF_ERROR(Claim(file, layout.address, layout.bytes, budget));
  FIRN_ASSIGN_OR_RETURN(Tensor tensor, Allocate(file, plan, budget));
  FIRN_RETURN_IF_ERROR(file.file().ReadAt(static_cast<int64_t>(layout.address), tensor.impl()->data,
                                          plan.stored_bytes(), "elements"));
  return tensor;
}

absl::StatusOr<Tensor> ReadCompact(const H5File& file, const Plan& plan, H5Budget* budget) {
  FIRN_RETURN_IF_ERROR(CheckStoredSize(file, plan, plan.layout.inside.size()));
  FIRN_ASSIGN_OR_RETURN(Tensor tensor, Allocate(file, plan, budget));
  if (!plan.layout.inside.empty()) {
    std::memcpy(tensor.impl()->data, plan.layout.inside.data(), plan.layout.inside.size());
  }
  return tensor;
}

absl::StatusOr<Tensor> ReadElements(H5File& file, const Plan& plan, H5Budget* budget) {
  switch (plan.layout.kind) {
    case H5Layout::kCompact:
      return ReadCompact(file, plan, budget);
    case H5Layout::kContiguous:
      return ReadContiguous(file, plan, budget);
    case H5Layout::kChunked:
      break;
  }
  return ReadChunked(file, plan, budget);
}

}  // namespace

absl::StatusOr<Tensor> ReadH5Dataset(H5File& file, const H5Object& dataset, H5Budget* budget) {
  FIRN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(file, dataset));
  FIRN_ASSIGN_OR_RETURN(Tensor tensor, ReadElements(file, plan, budget));
  const absl::Status converted =
      ConvertStored(plan.type, plan.shape.num_elements(), tensor.impl()->data);
  if (!converted.ok()) {
    return file.DamagedAt(plan.offset, "elements", std::string(converted.message()));
  }
  return tensor;
}

}  // namespace firn::io::internal

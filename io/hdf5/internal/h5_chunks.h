#ifndef FIRN_IO_HDF5_INTERNAL_H5_CHUNKS_H_
#define FIRN_IO_HDF5_INTERNAL_H5_CHUNKS_H_

// Chunks of a dataset are found through a version 1 B-tree ("TREE", node type 1), whose keys say
// where a chunk lies in the array and how long it is in the file, or through the newer indices of
// h5_index. A chunk at the border is stored whole, and only its inner part counts. A chunk that was
// never written is not in the index.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_filters.h"
#include "firn/io/hdf5/internal/h5_plan.h"

namespace firn::io::internal {

struct H5Chunk {
  uint64_t stored_bytes = 0, skipped_filters = 0, address = 0;
  std::vector<int64_t> at;  // of its first element in the array
};

// Geometry of the chunks of a dataset that has elements.
struct H5Grid {
  std::vector<int64_t> array, chunk;  // sizes
  int64_t chunks = 1, chunk_bytes = 1;
  int rank() const { return static_cast<int>(array.size()); }
};

absl::StatusOr<H5Grid> MakeH5Grid(const H5File& file, const H5Plan& plan);

// The chunks of the grid that were written. Each has its own place in the array and can hold its
// elements.
absl::StatusOr<std::vector<H5Chunk>> ListH5Chunks(H5File& file, const H5Plan& plan,
                                                  const H5Grid& grid, H5Budget* budget);

// Reads chunks and undoes their filters. Keeps its memory from one chunk to the next.
class H5ChunkReader {
 public:
  H5ChunkReader(const H5File& file, const H5Plan& plan, const H5Grid& grid)
      : file_(file), plan_(plan), grid_(grid) {}

  // The elements of the whole chunk, until the next call.
  absl::StatusOr<const char*> Read(const H5Chunk& chunk);

 private:
  const H5File& file_;
  const H5Plan& plan_;
  const H5Grid& grid_;
  H5Unfilter unfilter_;
  H5Buffer elements_;
};

// How many elements of the array the chunk has.
int64_t H5ChunkElements(const H5Grid& grid, const H5Chunk& chunk);

// Copies the part of a chunk that lies in the array, which begins at `to`.
void CopyH5Chunk(const H5Grid& grid, const H5Chunk& chunk, int64_t element_bytes, const char* from,
                 char* to);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_CHUNKS_H_

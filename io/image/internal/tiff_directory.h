#ifndef FIRN_IO_IMAGE_INTERNAL_TIFF_DIRECTORY_H_
#define FIRN_IO_IMAGE_INTERNAL_TIFF_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/image/internal/raster.h"

namespace firn::io::internal {

// The first directory of a TIFF as far as it describes pixels, with TIFF 6.0's names and numbers. A
// segment is a strip or a tile.
struct TiffDirectory {
  bool big_endian = false;
  uint32_t width = 0, height = 0;
  uint32_t bits = 1, samples = 1, compression = 1, photometric = 0, orientation = 1;
  uint32_t planes = 1, fill_order = 1, predictor = 1, format = 1, ink_set = 1;
  uint32_t t4_options = 0, t6_options = 0;
  std::vector<uint64_t> extra_samples, color_map;

  bool tiled = false;
  uint32_t segment_width = 0, segment_height = 0;  // the last strip may have fewer rows
  std::vector<uint64_t> offsets, byte_counts;      // all lie in the file

  // A directory with only the tags that matter, which takes the place of the file's.
  uint64_t pruned_at = 0;
  std::string pruned;

  bool planar() const { return planes == 2 && samples > 1; }
  int64_t segments_across() const { return (int64_t{width} + segment_width - 1) / segment_width; }
  int64_t segments_down() const { return (int64_t{height} + segment_height - 1) / segment_height; }
  uint32_t samples_in_segment() const { return planar() ? 1 : samples; }
  int64_t segment_row_bytes() const {
    return (int64_t{segment_width} * samples_in_segment() * bits + 7) / 8;
  }
};

// Errors: DataLoss for a directory that contradicts itself or the file, Unimplemented for legal
// files that are not read, ResourceExhausted beyond the limits.
absl::StatusOr<TiffDirectory> ReadTiffDirectory(const EncodedImage& file);

}  // namespace firn::io::internal

#endif  // FIRN_IO_IMAGE_INTERNAL_TIFF_DIRECTORY_H_

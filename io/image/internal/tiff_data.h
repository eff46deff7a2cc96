#ifndef FIRN_IO_IMAGE_INTERNAL_TIFF_DATA_H_
#define FIRN_IO_IMAGE_INTERNAL_TIFF_DATA_H_

#include <tiffio.h>

#include <cstdarg>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "firn/io/image/internal/raster.h"
#include "firn/io/image/internal/tiff_directory.h"

namespace firn::io::internal {

// The strips and tiles of a TIFF, unpacked: those without compression here, the others by libtiff,
// which sees only the directory's pruned form. Keeps references to both arguments.
// Thread-compatible.
class TiffData {
 public:
  TiffData(const EncodedImage& file, const TiffDirectory& directory);
  TiffData(const TiffData&) = delete;
  TiffData& operator=(const TiffData&) = delete;

  // The first `n` bytes of a segment, whole rows: samples of bytes or parts of them as they are, of
  // 16 bits in the machine's order. Errors: DataLoss if it has fewer, and for every complaint of
  // the libraries.
  absl::Status Read(uint32_t segment, unsigned char* out, int64_t n);

  // The image by libtiff's conversion: width x height pixels of R, G, B, A from the least bits up,
  // opaque. Errors: those of Read, Unimplemented for kinds that it does not convert.
  absl::Status ReadConverted(uint32_t* pixels);

 private:
  struct Input {
    const EncodedImage& file;
    const TiffDirectory& directory;
    uint64_t at = 0;
    char message[200] = "";   // the first one, which is the cause of the others
    std::string mapped = {};  // a copy of the file, where the library needs one
  };
  struct Close {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  };

  // libtiff's callbacks.
  static tmsize_t OnRead(thandle_t handle, void* out, tmsize_t n);
  static tmsize_t OnWrite(thandle_t handle, void* bytes, tmsize_t n);
  static toff_t OnSeek(thandle_t handle, toff_t offset, int whence);
  static int OnClose(thandle_t handle);
  static toff_t OnSize(thandle_t handle);
  static int OnMap(thandle_t handle, void** base, toff_t* size);
  static void OnUnmap(thandle_t handle, void* base, toff_t size);
  static int OnMessage(TIFF* tiff, void* data, const char* module, const char* format,
                       va_list args);

  absl::Status Open();
  // An error with the library's message, or with a note that there was none.
  absl::Status Failed() const;
  absl::Status ReadStored(uint32_t segment, unsigned char* out, int64_t n) const;
  // The first `n` bytes of a segment that has at most `most`, and is right to its end.
  absl::Status Inflate(uint32_t segment, unsigned char* out, int64_t n, int64_t most) const;
  // Whether the checksums of all segments are right. Requires Open().
  absl::Status CheckDeflate() const;
  // Whether the library gave all bytes, and they have the checksum at the segment's end.
  bool InflatesByLibrary(uint32_t segment, unsigned char* out, int64_t n);
  absl::Status ReadByLibrary(uint32_t segment, unsigned char* out, int64_t n);
  // Undoes byte order and differences of a row's samples, for samples that libtiff has not decoded.
  absl::Status Restore(unsigned char* out, int64_t n) const;

  const EncodedImage& file_;
  const TiffDirectory& directory_;
  Input input_;
  std::unique_ptr<TIFF, Close> tiff_;  // null until it is needed
  bool tried_ = false;                 // to open it
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_IMAGE_INTERNAL_TIFF_DATA_H_

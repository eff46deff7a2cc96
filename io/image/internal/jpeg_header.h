#ifndef FIRN_IO_IMAGE_INTERNAL_JPEG_HEADER_H_
#define FIRN_IO_IMAGE_INTERNAL_JPEG_HEADER_H_

#include <string>
#include <string_view>

namespace firn::io::internal {

// What the segments before the pixels of a JPEG say that its library does not tell.
struct JpegHeader {
  int orientation = 1;  // of the first EXIF block that asks to be turned
  std::string unread;   // the process by which it is coded, where that is legal and not read
};

// Goes through the file once, in time linear in what lies before its pixels. Damage ends it; to
// find that is the library's part.
JpegHeader ReadJpegHeader(std::string_view file);

}  // namespace firn::io::internal

#endif  // FIRN_IO_IMAGE_INTERNAL_JPEG_HEADER_H_

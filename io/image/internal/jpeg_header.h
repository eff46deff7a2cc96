#ifndef FIRN_IO_IMAGE_INTERNAL_JPEG_HEADER_H_
#define FIRN_IO_IMAGE_INTERNAL_JPEG_HEADER_H_

#include <string>
#include <string_view>

namespace firn::io::internal {

// Facts in the segments before the pixels of a JPEG that the library does not report.
struct JpegHeader {
  int orientation = 1;  // of the first EXIF block that asks to be turned
  std::string unread;   // the coding process, if it is legal but not read
};

// Goes through the file once, in time linear in what lies before its pixels. Damage ends the walk;
// reporting it is left to the library.
JpegHeader ReadJpegHeader(std::string_view file);

}  // namespace firn::io::internal

#endif  // FIRN_IO_IMAGE_INTERNAL_JPEG_HEADER_H_

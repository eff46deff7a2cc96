#ifndef FIRN_IO_DATA_IMAGES_BELOW_H_
#define FIRN_IO_DATA_IMAGES_BELOW_H_

#include <string>
#include <vector>

namespace firn::io {

// The images in a folder and those in it, by the rules of ImageFolder: paths from there, sorted.
// Throws firn::Error where it cannot be read, or has images of formats that are not
// (Unimplemented).
std::vector<std::string> ImagesBelow(const std::string& folder);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_IMAGES_BELOW_H_

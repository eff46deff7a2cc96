#ifndef FIRN_IO_DATA_IMAGES_BELOW_H_
#define FIRN_IO_DATA_IMAGES_BELOW_H_

#include <string>
#include <vector>

namespace firn::io {

// The images in a folder and all folders below it, by the rules of ImageFolder: relative paths,
// sorted. Throws firn::Error if the folder cannot be read, or has images of formats that Firn does
// not read (Unimplemented).
std::vector<std::string> ImagesBelow(const std::string& folder);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_IMAGES_BELOW_H_

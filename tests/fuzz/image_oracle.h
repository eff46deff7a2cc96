#ifndef FIRN_TESTS_FUZZ_IMAGE_ORACLE_H_
#define FIRN_TESTS_FUZZ_IMAGE_ORACLE_H_

#include <string_view>

#include "firn/io/image/image.h"

namespace firn::io {

// Ends the process if `image`, which was decoded from these bytes, differs from the result of
// another way: the checksums of a PNG, giflib's own pixels, libjpeg with every warning as an error,
// libtiff's conversion if it gives no warning, and for every format a second decoding.
void CheckDecoded(std::string_view bytes, const DecodeImageOptions& options, const Tensor& image);

}  // namespace firn::io

#endif  // FIRN_TESTS_FUZZ_IMAGE_ORACLE_H_

#ifndef FIRN_TESTS_IO_MONITORS_DECODED_PNG_H_
#define FIRN_TESTS_IO_MONITORS_DECODED_PNG_H_

#include <string>

#include "io/monitors/internal/png_bytes.h"

namespace firn::io {

// The picture in a PNG file that Firn wrote, grey or RGB; expects good chunks on the way.
internal::Picture DecodedPng(const std::string& png);

}  // namespace firn::io

#endif  // FIRN_TESTS_IO_MONITORS_DECODED_PNG_H_

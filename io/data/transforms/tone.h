#ifndef FIRN_IO_DATA_TRANSFORMS_TONE_H_
#define FIRN_IO_DATA_TRANSFORMS_TONE_H_

#include "firn/io/data/transforms/transform.h"

namespace firn::io {

// Pillow's ImageOps of bytes, channel by channel: images u8 of any number of channels.

// Keeps the upper `bits` bits of each byte. Throws unless bits is 0 to 8.
Transform Posterize(inner::Integer bits);

// Inverts all bytes of `threshold` and above: 255 - v. Throws unless threshold is finite.
Transform Solarize(inner::Real threshold);

// Stretches each channel so that its darkest byte becomes 0 and its brightest 255; one of a single
// value stays.
Transform AutoContrast();

// Each channel's bytes mapped so that all ranges of values occur about equally often.
Transform Equalize();

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_TONE_H_

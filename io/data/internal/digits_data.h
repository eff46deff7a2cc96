#ifndef FIRN_IO_DATA_INTERNAL_DIGITS_DATA_H_
#define FIRN_IO_DATA_INTERNAL_DIGITS_DATA_H_

#include <cstddef>

namespace firn::io::internal {

// data/digits.csv.gz, byte for byte.
extern const unsigned char kDigitsData[];
extern const size_t kDigitsBytes;

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_DIGITS_DATA_H_

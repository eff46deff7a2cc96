#ifndef FIRN_IO_IDX_IDX_H_
#define FIRN_IO_IDX_IDX_H_

// IDX, the file format of MNIST and the data sets that imitate it.

#include <string>

#include "firn/io/load_limits.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// Reads an IDX file, gzip-compressed or not: u8, i8, i32, f32 and f64 elements keep their dtype,
// 16-bit integers become i32. The rank is at most kMaxRank.
// Throws firn::Error: NotFound and the like for the path; DataLoss for a damaged, truncated or
// overlong file, naming file, offset, field, what was expected and what was found;
// ResourceExhausted beyond `limits`. No memory is taken for elements that the file is too short to
// hold.
Tensor ReadIdx(const std::string& path, const LoadLimits& limits = {});

}  // namespace firn::io

#endif  // FIRN_IO_IDX_IDX_H_

#ifndef FIRN_TENSOR_FORMAT_H_
#define FIRN_TENSOR_FORMAT_H_

#include <cstdint>
#include <string>

#include "firn/tensor/tensor.h"

namespace firn {

struct FormatOptions {
  int precision = 4;         // digits behind the decimal point, at most
  int64_t threshold = 1000;  // more elements than this are abridged
  int64_t edge_items = 3;    // what then remains at either end of a dimension
  int line_width = 80;       // longer rows are broken
};

// The elements as NumPy prints them: nested brackets, columns aligned, numbers no longer than
// needed, all in scientific notation when they differ much, "..." for what is left out:
//   [[ 1.   -0.25]
//    [ 3.    4.5 ]]
// A line with dtype and shape, "i64 [2, 2]", follows when they do not follow from the text: any
// dtype but f32, anything empty or abridged. 0-d tensors are a mere number. A pending parameter
// (tensor/pending.h) tells its name and what is known of its shape. Reads any layout and device;
// throws during capture.
std::string Format(const Tensor& x, const FormatOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_FORMAT_H_

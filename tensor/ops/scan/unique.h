#ifndef FIRN_TENSOR_OPS_SCAN_UNIQUE_H_
#define FIRN_TENSOR_OPS_SCAN_UNIQUE_H_

#include <optional>

#include "firn/tensor/tensor.h"

namespace firn {

// For n distinct elements of x, or slices along `dim`:
struct UniqueResult {
  Tensor values;       // they, [n], or x's shape with n along dim
  Tensor first_index;  // i64 [n]: where each stands first in the flattened x, or along dim
  Tensor inverse;      // i64: which one each element of x is, of x's shape; or each slice, 1-D
  Tensor counts;       // i64 [n]: how often each occurs
};

struct UniqueOptions {
  std::optional<int64_t> dim = {};  // absent: elements of the flattened x
  bool sorted = true;               // false: in order of first appearance
};

// The distinct elements of x, ascending (torch.unique; ONNX's Unique), or the distinct slices along
// `dim`, whose first differing elements decide their order. Each NaN counts as distinct. Any dtype;
// the gradient goes from each value to its first place. Their number is read on the host: it waits
// for a CUDA device, and is an error during capture. Throws when dim is out of range.
UniqueResult Unique(const Tensor& x, const UniqueOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SCAN_UNIQUE_H_

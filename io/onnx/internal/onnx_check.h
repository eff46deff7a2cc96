#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_CHECK_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_CHECK_H_

#include "absl/status/status.h"
#include "firn/io/onnx/internal/onnx_model.h"

namespace firn::io::internal {

// The conditions of ONNX's checker on the names in a model, whatever its operators mean: each value
// is made once and before it is used, also in graphs within nodes, which see the values around
// them; initializers and functions have different names, and no function calls itself. If the
// file's nodes do not come behind those that make their inputs, they are sorted so, in the order
// nearest to the file's. DataLoss, 'net.onnx: graph, node 3 "conv" (Conv): ...' for a model that is
// wrong.
absl::Status CheckOnnxModel(OnnxModel* model);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_CHECK_H_

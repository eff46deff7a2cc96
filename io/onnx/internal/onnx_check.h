#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_CHECK_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_CHECK_H_

#include "absl/status/status.h"
#include "firn/io/onnx/internal/onnx_model.h"

namespace firn::io::internal {

// What ONNX's checker asks of the names in a model, whatever its operators mean: each value is made
// once and before it is used, also by graphs within nodes, which see the values around them;
// initializers and functions have names of their own, and no function calls itself. Nodes are put
// in an order in which each comes behind those that make its inputs, where the file has them
// otherwise; of several orders the one nearest to the file's. DataLoss, 'net.onnx: graph, node 3
// "conv" (Conv): ...' for a model that is wrong.
absl::Status CheckOnnxModel(OnnxModel* model);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_CHECK_H_

#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_RUN_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_RUN_H_

#include <string>
#include <utility>
#include <vector>

#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Imports a model and runs it once, on inputs by name whose numbers the import may look at. Throws
// firn::Error: kUnimplemented for what is not supported.
std::vector<Tensor> RunOnnxModel(OnnxModel model,
                                 const std::vector<std::pair<std::string, Tensor>>& inputs);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_RUN_H_

// The given values become initializers, so they are known at import, and the call needs no inputs.
#include "firn/io/onnx/internal/onnx_run.h"

#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_check.h"
#include "firn/io/onnx/internal/onnx_network.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"

namespace firn::io::internal {

std::vector<Tensor> RunOnnxModel(OnnxModel model,
                                 const std::vector<std::pair<std::string, Tensor>>& inputs) {
  constexpr char kWho[] = "import_onnx";
  RaiseIfError(CheckOnnxModel(&model), kWho);
  for (const auto& [name, value] : inputs) {
    std::erase_if(model.graph.inputs, [&](const OnnxValueInfo& v) { return v.name == name; });
    model.graph.initializers.push_back(OnnxTensorOf(name, value));
  }
  const OnnxImport made = ValueOrRaise(OnnxNetwork(std::move(model), {}), kWho);
  const TensorList results = made.network.Call({});
  return {results.begin(), results.end()};
}

}  // namespace firn::io::internal

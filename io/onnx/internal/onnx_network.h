#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_NETWORK_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_NETWORK_H_

#include "absl/status/statusor.h"
#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/io/onnx/onnx.h"

namespace firn::io::internal {

// The network of a model that CheckOnnxModel has accepted. Reads the elements of its tensors.
// Unimplemented, listing what Firn does not have, as ImportOnnx says.
absl::StatusOr<OnnxImport> OnnxNetwork(OnnxModel model, const OnnxImportOptions& options);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_NETWORK_H_

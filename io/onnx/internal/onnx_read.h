#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_READ_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_READ_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/load_limits.h"
#include "firn/io/onnx/internal/onnx_model.h"

namespace firn::io::internal {

// The model in a file, which is mapped: elements of tensors are read when they are asked for, and
// the file must not become shorter before. Everything else is read and checked: the encoding as the
// onnx package does it and more strictly (fields of another type, unknown ones, scalars that come
// twice), types and sizes of tensors against their bytes, attributes against their types, versions.
// The meaning of nodes is not checked here (CheckOnnxModel).
//
// Errors: DataLoss, "net.onnx: graph.node[3].attribute[0].type, offset 812: expected ..., got ..."
// for a file that is no model; Unimplemented for versions that Firn does not know;
// ResourceExhausted beyond the limits, where max_metadata_bytes bounds the memory of all but
// elements, and max_depth the nesting of messages; those of the system for the path.
absl::StatusOr<OnnxModel> ReadOnnxModel(const std::string& path, const LoadLimits& limits = {});

// The same of bytes in memory, which are copied; it has no elements in other files. `name` stands
// for the path in messages.
absl::StatusOr<OnnxModel> ParseOnnxModel(std::string_view bytes, const std::string& name,
                                         const LoadLimits& limits = {});

// A tensor alone in a file, as in the test data of ONNX's backends.
absl::StatusOr<OnnxTensor> ReadOnnxTensorFile(const std::string& path,
                                              const LoadLimits& limits = {});

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_READ_H_

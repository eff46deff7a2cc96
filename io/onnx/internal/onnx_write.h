#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_WRITE_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_WRITE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/onnx/internal/onnx_model.h"

namespace firn::io::internal {

// A model as the onnx package writes one, in the order of its fields' numbers: equal models give
// equal bytes. Elements of tensors stand in raw_data, wherever they were read from; those in other
// files stay there. InvalidArgument for a tensor whose elements are not as many as its sizes say;
// Unimplemented for more than 2 GiB, which no library reads.
absl::StatusOr<std::string> FormatOnnxModel(const OnnxModel& model);

// FormatOnnxModel into a file, which it replaces as a whole.
absl::Status WriteOnnxModel(const std::string& path, const OnnxModel& model);

// The same with the elements of initializers that have at least 1 KiB in a file "<path>.data",
// which lies beside it, each at a multiple of 64 bytes. The data file is replaced before the model,
// so that no model refers to missing elements; a stop between the two leaves the old model with the
// new data.
absl::Status WriteOnnxModelWithData(const std::string& path, OnnxModel model);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_WRITE_H_

#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_NUMBERS_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_NUMBERS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_model.h"

namespace firn::io::internal {

// The elements of a tensor whose place is kTyped, as they lie in memory, into `out`. DataLoss,
// "int32_data[3]: expected ..., got ...", for a number that is no element.
absl::Status CopyOnnxNumbers(const OnnxTensor& tensor, const OnnxElement& element, char* out);

// `n` elements of 4 bits at the front of `data`, which has room for as many bytes, as integers of 8
// bits. DataLoss for padding that is not zero.
absl::Status UnpackOnnx4(int64_t n, bool is_signed, char* data);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_NUMBERS_H_

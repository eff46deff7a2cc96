#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_TENSOR_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_TENSOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/load_limits.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/io/random_access.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Reads the elements of a model's tensors, wherever they are, within the limits, which count memory
// and not the file's bytes: many tensors may name the same ones. Thread-compatible.
class OnnxElements {
 public:
  // `file` and `folder` are those of an OnnxModel.
  OnnxElements(std::string file, std::optional<std::string> folder, const LoadLimits& limits = {})
      : file_(std::move(file)),
        folder_(std::move(folder)),
        limits_(limits),
        left_(limits.max_total_bytes) {}

  // On the host. With `widen`, types that Firn does not have become wider ones that hold all their
  // values: 16-bit integers and UINT32 the next wider, UINT64 i64, 8-bit floats f32, INT4 i8 and
  // UINT4 u8. Otherwise, and for all types that no dtype holds: Unimplemented, with their name.
  // DataLoss as 'net.onnx: tensor "w": expected ..., got ...' for elements that are invalid for
  // their type or not in their file; FailedPrecondition where they are in another file and the
  // model came from memory.
  absl::StatusOr<Tensor> Read(const OnnxTensor& tensor, bool widen = false);

  // Elements the way they lie in memory, of any type but STRING.
  absl::StatusOr<std::string> Bytes(const OnnxTensor& tensor);

 private:
  // `stored` bytes of elements, which become `bytes`.
  absl::Status Take(const OnnxTensor& tensor, int64_t stored, int64_t bytes);
  absl::Status Copy(const OnnxTensor& tensor, const OnnxElement& element, int64_t n, char* out);
  absl::Status OpenOutside(const OnnxTensor& tensor, int64_t bytes);
  absl::Status In(const OnnxTensor& tensor, const absl::Status& status) const;

  const std::string file_;
  const std::optional<std::string> folder_;
  const LoadLimits limits_;
  int64_t left_;
  std::string opened_;  // the last location, and its file
  std::unique_ptr<RandomAccess> outside_;
};

// A tensor of a model with these elements, of which it has no copy if they are contiguous on the
// host: they must not change before it is written.
OnnxTensor OnnxTensorOf(std::string name, const firn::Tensor& tensor);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_TENSOR_H_

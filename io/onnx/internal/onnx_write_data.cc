// Elements outside of the model's file, which may have no more than 2 GiB.
#include <cstdint>
#include <utility>

#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_write.h"

namespace firn::io::internal {

using firn::inner::internal::AtomicFile;

absl::Status WriteOnnxModelWithData(const std::string& path, OnnxModel model) {
  constexpr int64_t kAlignment = 64;
  constexpr size_t kLeast = 1024;
  const std::string file = path + ".data";
  const std::string name = file.substr(file.find_last_of('/') + 1);
  FIRN_ASSIGN_OR_RETURN(AtomicFile data, AtomicFile::Create(file));
  int64_t at = 0;
  for (OnnxTensor& tensor : model.graph.initializers) {
    if (tensor.place != OnnxTensor::Place::kRaw || tensor.bytes.size() < kLeast) continue;
    at = (at + kAlignment - 1) / kAlignment * kAlignment;
    FIRN_RETURN_IF_ERROR(data.WriteAt(at, tensor.bytes.data(), tensor.bytes.size()));
    OnnxExternal external;
    external.location = name;
    external.offset = at;
    external.length = static_cast<int64_t>(tensor.bytes.size());
    at += *external.length;
    tensor.place = OnnxTensor::Place::kExternal;
    tensor.external = std::move(external);
  }
  // Everything that may be wrong with the model is refused before the data is replaced.
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, FormatOnnxModel(model));
  FIRN_ASSIGN_OR_RETURN(AtomicFile out, AtomicFile::Create(path));
  FIRN_RETURN_IF_ERROR(out.Write(bytes.data(), bytes.size()));
  FIRN_RETURN_IF_ERROR(data.Commit());
  return out.Commit();
}

}  // namespace firn::io::internal

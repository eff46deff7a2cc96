// Files: the whole one in memory or mapped, one message.
#include "firn/io/onnx/internal/onnx_read.h"

#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_message.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {
namespace {

template <class T>
absl::StatusOr<T> Read(const std::string& name, std::string_view bytes,
                       std::shared_ptr<const void> owner, const LoadLimits& limits) {
  // A message's sizes are numbers of 31 bits in all libraries.
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  FIRN_RETURN_IF(static_cast<int64_t>(bytes.size()) > kMost,
                 Unimplemented(name, ": expected a file of at most ", kMost,
                               " bytes, which is the format's limit, got ", bytes.size()));
  OnnxSource source(name, bytes, std::move(owner), limits);
  T value;
  FIRN_RETURN_IF_ERROR(ReadOnnx(&source, {}, bytes, &value));
  return value;
}

template <class T>
absl::StatusOr<T> ReadMapped(const std::string& path, const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(const auto file, RandomAccess::Open(path));
  FIRN_ASSIGN_OR_RETURN(const std::shared_ptr<char> map, file->Map());
  return Read<T>(path, {map.get(), static_cast<size_t>(file->size())}, map, limits);
}

}  // namespace

absl::StatusOr<OnnxModel> ReadOnnxModel(const std::string& path, const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(OnnxModel model, ReadMapped<OnnxModel>(path, limits));
  model.file = path;
  model.folder = std::filesystem::path(path).parent_path().string();
  return model;
}

absl::StatusOr<OnnxModel> ParseOnnxModel(std::string_view bytes, const std::string& name,
                                         const LoadLimits& limits) {
  const auto copy = std::make_shared<const std::string>(bytes);
  FIRN_ASSIGN_OR_RETURN(OnnxModel model, Read<OnnxModel>(name, *copy, copy, limits));
  model.file = name;
  return model;
}

absl::StatusOr<OnnxTensor> ReadOnnxTensorFile(const std::string& path, const LoadLimits& limits) {
  return ReadMapped<OnnxTensor>(path, limits);
}

}  // namespace firn::io::internal

#include "firn/io/onnx/onnx.h"

#include <utility>

#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_check.h"
#include "firn/io/onnx/internal/onnx_network.h"
#include "firn/io/onnx/internal/onnx_qdq.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/onnx_status.h"
#include "firn/io/value_or_raise.h"

namespace firn::io {
namespace {

absl::StatusOr<OnnxImport> Import(absl::StatusOr<internal::OnnxModel> model,
                                  const OnnxImportOptions& options) {
  FIRN_RETURN_IF_ERROR(model.status());
  FIRN_RETURN_IF_ERROR(internal::CheckOnnxModel(&*model));
  FIRN_RETURN_IF_ERROR(internal::FoldQdq(&*model, options.limits));
  return internal::OnnxNetwork(*std::move(model), options);
}

}  // namespace

absl::StatusOr<OnnxImport> TryImportOnnx(const std::string& path,
                                         const OnnxImportOptions& options) {
  return Import(internal::ReadOnnxModel(path, options.limits), options);
}

absl::StatusOr<OnnxImport> TryParseOnnx(std::string_view bytes, const std::string& name,
                                        const OnnxImportOptions& options) {
  return Import(internal::ParseOnnxModel(bytes, name, options.limits), options);
}

OnnxImport ImportOnnx(const std::string& path, const OnnxImportOptions& options) {
  return ValueOrRaise(TryImportOnnx(path, options), "import_onnx");
}

}  // namespace firn::io

// For each path on the standard input: reads the model, writes it again to PATH.firn, and the
// initializers of its graph that Firn has a type for, widened, to PATH.safetensors where PATH ends
// in ".elements.onnx". A line "OK PATH", "ERROR PATH CODE MESSAGE" where the model is refused, or
// "REFUSED PATH NAME MESSAGE" before the "OK" for each initializer that is not read.
#include <fstream>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "firn/io/onnx/internal/onnx_check.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/io/safetensors/safetensors_status.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {
namespace {

absl::Status Convert(const std::string& path) {
  const absl::StatusOr<OnnxModel> model = ReadOnnxModel(path);
  if (!model.ok()) return model.status();
  const absl::StatusOr<std::string> written = FormatOnnxModel(*model);
  if (!written.ok()) return written.status();
  // WriteOnnxModel would wait for the disk, and there are thousands of files.
  std::ofstream(path + ".firn", std::ios::binary) << *written;
  StateDict tensors;
  OnnxElements elements(model->file, model->folder);
  for (const OnnxTensor& tensor : model->graph.initializers) {
    absl::StatusOr<Tensor> read = elements.Read(tensor, true);
    if (read.ok()) {
      tensors.Set(tensor.name, *std::move(read));
    } else {
      std::cout << "REFUSED " << path << " " << absl::CEscape(tensor.name) << " "
                << absl::CEscape(read.status().message()) << "\n";
    }
  }
  if (!tensors.empty() && path.ends_with(".elements.onnx")) {
    const absl::Status saved = TrySaveSafetensors(path + ".safetensors", tensors);
    if (!saved.ok()) return saved;
  }
  // Comes last: the meaning of a model is checked only if the model can be written.
  OnnxModel sorted = *model;
  return CheckOnnxModel(&sorted);
}

}  // namespace
}  // namespace firn::io::internal

int main() {
  std::string path;
  while (std::getline(std::cin, path)) {
    const absl::Status status = firn::io::internal::Convert(path);
    if (status.ok()) {
      std::cout << "OK " << path << "\n";
    } else {
      std::cout << "ERROR " << path << " " << absl::StatusCodeToString(status.code()) << " "
                << absl::CEscape(status.message()) << "\n";
    }
  }
  return 0;
}

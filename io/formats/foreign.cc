// Files that Firn neither reads nor writes, recognised by their first bytes and names, so that the
// error says what the file is and what to use instead.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "firn/io/formats/formats.h"

namespace firn::io {

// A FlatBuffer, whose file identifier stands behind the offset of its root.
FIRN_FILE_FORMAT(tensorflow_lite) {
  return {.name = "TensorFlow Lite",
          .holds = FileHolds::kGraph,
          .read_suffixes = {".tflite"},
          .recognises =
              [](const FileHead& head) {
                return head.bytes.size() >= 8 && head.bytes.compare(4, 4, "TFL3") == 0;
              },
          .instead = "python -m tf2onnx.convert --tflite FILE --output net.onnx makes an .onnx"};
}

// Messages without first bytes: SavedModel's and those of graphs alone.
FIRN_FILE_FORMAT(tensorflow) {
  return {.name = "TensorFlow",
          .holds = FileHolds::kGraph,
          .read_suffixes = {".pb", ".pbtxt"},
          .instead =
              "python -m tf2onnx.convert --saved-model FOLDER --output net.onnx makes an "
              ".onnx of the folder of a saved_model.pb; a .pb of ONNX's tests is for firn "
              "onnx check"};
}

// A ZIP. Layers may be Python's own code.
FIRN_FILE_FORMAT(keras) {
  return {.name = "Keras",
          .holds = FileHolds::kGraph,
          .read_suffixes = {".keras"},
          .recognises =
              [](const FileHead& head) {
                const std::string_view first = head.FirstZipMember();
                return first == "metadata.json" || first == "config.json" ||
                       first == "model.weights.h5";
              },
          .instead =
              "tf2onnx makes an .onnx of it, and model.save_weights(\"net.weights.h5\") of "
              "Keras a file of weights"};
}

// A ZIP, whose first file depends on the version.
FIRN_FILE_FORMAT(torch_export) {
  return {.name = "torch.export",
          .holds = FileHolds::kGraph,
          .read_suffixes = {".pt2"},
          .recognises =
              [](const FileHead& head) {
                constexpr std::string_view kMembers[] = {"/data/weights/", "/data/constants/",
                                                         "/models/", "/archive_format",
                                                         "/.data/version"};
                const std::string_view first = head.FirstZipMember();
                return std::any_of(
                    std::begin(kMembers), std::end(kMembers),
                    [&](std::string_view name) { return first.find(name) != first.npos; });
              },
          .instead =
              "torch.onnx.export makes an .onnx of the module, and torch.save of its "
              "state_dict() a file of weights"};
}

// Numbers without first bytes; `firn convert` writes it.
FIRN_FILE_FORMAT(nnabla_c_runtime) {
  return {.name = "NNabla's C runtime",
          .holds = FileHolds::kGraph,
          .read_suffixes = {".nnb"},
          .instead = "the .nnp that it was made of has all that it has, and is read"};
}

}  // namespace firn::io

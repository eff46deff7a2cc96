// The format is told by the length of the header, whose highest bytes are zero, and by the header's
// brace.
#include "firn/io/formats/formats.h"
#include "firn/io/safetensors/safetensors.h"

namespace firn::io {

FIRN_FILE_FORMAT(safetensors) {
  return {.name = "safetensors",
          .suffixes = {".safetensors"},
          .read_suffixes = {".json"},  // an index of several
          .recognises =
              [](const FileHead& head) {
                constexpr std::string_view kBrace("\0\0\0\0{", 5);
                return head.bytes.size() > 8 && head.bytes.substr(4, 5) == kBrace;
              },
          .read_tensors =
              [](const std::string& path, const LoadOptions& options) {
                return LoadSafetensors(path, {.load = options, .map = false});
              },
          .write_tensors = [](const std::string& path,
                              const StateDict& state) { SaveSafetensors(path, state); }};
}

}  // namespace firn::io

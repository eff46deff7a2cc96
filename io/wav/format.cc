// RIFF and its forms for more than 4 GB, which hold sound if they contain "WAVE".
#include "firn/io/formats/formats.h"
#include "firn/io/wav/wav.h"

namespace firn::io {

FIRN_FILE_FORMAT(wav) {
  return {.name = "WAV",
          .holds = FileHolds::kSound,
          .suffixes = {".wav"},
          .recognises =
              [](const FileHead& head) {
                const std::string name = head.bytes.substr(0, 4);
                return (name == "RIFF" || name == "RF64" || name == "BW64" || name == "RIFX") &&
                       head.bytes.size() >= 12 && head.bytes.substr(8, 4) == "WAVE";
              },
          .read_tensors =
              [](const std::string& path, const LoadOptions& options) {
                return StateDict{{"samples", ReadWav(path, options.limits).samples}};
              },
          .read_array =
              [](const std::string& path, const ReadArrayOptions& options) {
                return ReadWav(path, options.limits).samples;
              }};
}

}  // namespace firn::io

// Images and sound.
#include <algorithm>
#include <string>

#include "firn/io/image/image.h"
#include "firn/io/wav/wav.h"
#include "tools/firn/files.h"

namespace firn::cli {
namespace {

bool IsImage(const FileHead& head) {
  const std::string& b = head.bytes;
  for (const char* magic : {"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a", "II*", "MM"}) {
    if (b.starts_with(magic)) return true;
  }
  const bool pnm = b.size() > 2 && b[0] == 'P' && b[1] >= '1' && b[1] <= '6' &&
                   (b[2] == '\n' || b[2] == ' ' || b[2] == '#' || b[2] == '\r' || b[2] == '\t');
  return pnm || (b.starts_with("BM") && b.size() >= 14);
}

}  // namespace

FIRN_FILE_FORMAT(image, "image") {
  return {IsImage, [](const std::string& path, const io::LoadLimits& limits) {
            io::DecodeImageOptions options{.keep_16_bits = true};
            options.limits.max_bytes = std::min(options.limits.max_bytes, limits.max_total_bytes);
            FileContents contents;
            contents.tensors.Insert("image", io::ReadImage(path, options));
            return contents;
          }};
}

FIRN_FILE_FORMAT(wav, "WAV") {
  return {
      [](const FileHead& head) {
        const std::string name = head.bytes.substr(0, 4);
        return (name == "RIFF" || name == "RF64" || name == "BW64" || name == "RIFX") &&
               head.bytes.size() >= 12 && head.bytes.substr(8, 4) == "WAVE";
      },
      [](const std::string& path, const io::LoadLimits& limits) {
        const io::Wave wave = io::ReadWav(path, limits);
        FileContents contents;
        contents.tensors.Insert("samples", wave.samples);
        const auto frames = static_cast<double>(wave.samples.size(1));
        contents.facts = {
            {"sample rate", wave.sample_rate},
            {"seconds", wave.sample_rate > 0 ? frames / static_cast<double>(wave.sample_rate) : 0}};
        return contents;
      }};
}

}  // namespace firn::cli

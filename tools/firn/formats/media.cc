// Sound, which has a rate.
#include <string>

#include "firn/io/wav/wav.h"
#include "tools/firn/files.h"

namespace firn::cli {

FIRN_FILE_CONTENTS(wav, "WAV") {
  return [](const std::string& path, const io::LoadLimits& limits) {
    const io::Wave wave = io::ReadWav(path, limits);
    FileContents contents;
    contents.tensors.Insert("samples", wave.samples);
    const auto frames = static_cast<double>(wave.samples.size(1));
    contents.facts = {
        {"sample rate", wave.sample_rate},
        {"seconds", wave.sample_rate > 0 ? frames / static_cast<double>(wave.sample_rate) : 0}};
    return contents;
  };
}

}  // namespace firn::cli

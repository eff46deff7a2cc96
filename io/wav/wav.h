#ifndef FIRN_IO_WAV_WAV_H_
#define FIRN_IO_WAV_WAV_H_

// Sound as WAV files:
//
//   io::Wave wave = io::ReadWav("voice.wav");  // wave.samples: f32 [channels, frames]
//   io::WriteWav("quiet.wav", {wave.samples * 0.5, wave.sample_rate});

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/io/load_limits.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

struct Wave {
  Tensor samples;           // f32 [channels, frames], full scale being -1 to 1
  int64_t sample_rate = 0;  // frames a second
};

enum class WavFormat { kPcm8, kPcm16, kPcm24, kPcm32, kFloat32 };

// Reads PCM of 8, 16, 24 and 32 bits, as v / 2^(bits - 1) (8 bits: (v - 128) / 128), and f32 and
// f64 as they are; also WAVE_FORMAT_EXTENSIBLE of these. Chunks but "fmt " and "data" are passed
// over. RF64 and BW64, which may be larger than 4 GB, are read too, and sound that was written into
// a pipe, whose header has no size yet (ffffffff, 7ffff000 and the like, or 0): then there are
// frames to the end of the file. Throws firn::Error: DataLoss for a damaged file, as "<file>:
// offset <n>, <field>: expected
// ...", Unimplemented for another encoding and for RIFX, ResourceExhausted beyond the limits, which
// are checked, as is the file's size, before memory is taken.
Wave ReadWav(const std::string& path, const LoadLimits& limits = {});

struct WriteWavOptions {
  WavFormat format = WavFormat::kPcm16;
};

// Replaces the file as a whole, and does not wait for the disk (WriteImage). Samples beyond full
// scale are clipped in PCM; the nearest integer is written, NaN as 0. Throws firn::Error unless
// samples are f32 [1 to 65535 channels, frames] or [frames], and the rate is 1 to 2^32 - 1.
void WriteWav(const std::string& path, const Wave& wave, const WriteWavOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_WAV_WAV_H_

// RIFF (Microsoft and IBM, "Multimedia Programming Interface and Data Specifications 1.0"),
// little-endian: "RIFF", u32 size of the rest, "WAVE", then chunks of a name, a u32 size and that
// many bytes, filled up to an even number.
//   "fmt "  u16 encoding (1 PCM, 3 float, 65534: in the first two bytes of the GUID at 24), u16
//           channels, u32 rate, u32 bytes a second, u16 bytes a frame, u16 bits a sample
//   "data"  frames, the samples of each side by side; PCM of 8 bits is unsigned
//
// RF64 (EBU Tech 3306) and BW64 (ITU-R BS.2088) have that name in place of "RIFF", and first of all
//   "ds64" u64 size of the rest, u64 size of "data", u64 frames, u32 sizes that follow, for others
//   which counts if "data" has the size ffffffff.
//
// A program that writes into a pipe cannot go back to fill in the sizes. It leaves the largest
// possible size or 0, which means: to the end of the file. See IsPlaceholder.
#include "firn/io/wav/wav.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/random_access.h"
#include "firn/io/value_or_raise.h"
#include "firn/io/wav/wav_status.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using internal::LittleEndian;

constexpr uint32_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;

// --- Samples -------------------------------------------------------------------------------------

// Shifted to the top, so that the sign is where i32 has it.
template <int kBytes>
float FromPcm(const unsigned char* p) {
  const auto bits = static_cast<uint32_t>(LittleEndian(p, kBytes)) << (32 - 8 * kBytes);
  return static_cast<float>(static_cast<int32_t>(bits)) * 0x1p-31F;
}
float FromPcm8(const unsigned char* p) { return static_cast<float>(*p - 128) / 128; }
float FromF32(const unsigned char* p) {
  return std::bit_cast<float>(static_cast<uint32_t>(LittleEndian(p, 4)));
}
float FromF64(const unsigned char* p) {
  return static_cast<float>(std::bit_cast<double>(LittleEndian(p, 8)));
}

template <int kBytes>
uint32_t ToPcm(float v) {
  constexpr double kFull = int64_t{1} << (8 * kBytes - 1);
  const double scaled = std::isnan(v) ? 0 : std::nearbyint(v * kFull);
  const auto i = static_cast<int64_t>(std::clamp(scaled, -kFull, kFull - 1));
  return static_cast<uint32_t>(i + (kBytes == 1 ? 128 : 0));
}
uint32_t ToF32(float v) { return std::bit_cast<uint32_t>(v); }

// One channel: samples `step` bytes apart in the file, side by side in memory.
using Decode = void (*)(const unsigned char* from, int64_t step, int64_t n, float* to);
template <float (*kSample)(const unsigned char*)>
void DecodeChannel(const unsigned char* from, int64_t step, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = kSample(from + i * step);
}

// And back.
using Encode = void (*)(const float* from, int64_t n, char* to, int64_t step);
template <uint32_t (*kNumber)(float), int kBytes>
void EncodeChannel(const float* from, int64_t n, char* to, int64_t step) {
  for (int64_t i = 0; i < n; ++i, to += step) {
    const uint32_t number = kNumber(from[i]);
    for (int b = 0; b < kBytes; ++b) to[b] = static_cast<char>(number >> 8 * b & 255);
  }
}

struct Coding {
  uint32_t encoding;
  int bits;
  Decode decode;
  Encode encode;  // null: not written
};

// In the order of WavFormat; then the encodings that are only read.
constexpr Coding kCodings[] = {
    {kPcm, 8, DecodeChannel<FromPcm8>, EncodeChannel<ToPcm<1>, 1>},
    {kPcm, 16, DecodeChannel<FromPcm<2>>, EncodeChannel<ToPcm<2>, 2>},
    {kPcm, 24, DecodeChannel<FromPcm<3>>, EncodeChannel<ToPcm<3>, 3>},
    {kPcm, 32, DecodeChannel<FromPcm<4>>, EncodeChannel<ToPcm<4>, 4>},
    {kFloat, 32, DecodeChannel<FromF32>, EncodeChannel<ToF32, 4>},
    {kFloat, 64, DecodeChannel<FromF64>, nullptr},
};

// --- Reading -------------------------------------------------------------------------------------

struct Format {
  const Coding* coding = nullptr;
  int channels = 0;
  uint32_t rate = 0;
  int bytes() const { return coding->bits / 8; }
  int frame_bytes() const { return channels * bytes(); }
};

uint32_t Number(const unsigned char* p, size_t n) {
  return static_cast<uint32_t>(LittleEndian(p, n));
}

absl::StatusOr<Format> ReadFormat(const RandomAccess& file, int64_t at, int64_t size) {
  unsigned char p[40] = {};
  FIRN_RETURN_IF(size < 16, Damaged(file.name(), at, "fmt chunk",
                                    absl::StrCat("expected 16 bytes or more, got ", size)));
  FIRN_RETURN_IF_ERROR(file.ReadAt(at, p, std::min<int64_t>(size, 40), "fmt chunk"));
  const bool extensible = Number(p, 2) == kExtensible && size >= 40;
  const uint32_t encoding = Number(extensible ? p + 24 : p, 2);
  const int bits = static_cast<int>(Number(p + 14, 2));
  const auto* const coding =
      std::find_if(std::begin(kCodings), std::end(kCodings),
                   [&](const Coding& c) { return c.encoding == encoding && c.bits == bits; });
  FIRN_RETURN_IF(coding == std::end(kCodings),
                 Unimplemented(file.name(), ": offset ", at,
                               ", encoding: expected PCM of 8, 16, 24 or 32 bits or float of 32 or "
                               "64, got encoding ",
                               encoding, " of ", bits, " bits"));
  const Format f{
      .coding = coding, .channels = static_cast<int>(Number(p + 2, 2)), .rate = Number(p + 4, 4)};
  FIRN_RETURN_IF(
      f.channels < 1 || f.rate < 1 || Number(p + 12, 2) != static_cast<uint32_t>(f.frame_bytes()),
      Damaged(
          file.name(), at, "fmt chunk",
          absl::StrCat("expected channels, a rate and their frames, got ", f.channels,
                       " channels at ", f.rate, " Hz in frames of ", Number(p + 12, 2), " bytes")));
  // Only this field can reveal a damaged rate.
  const auto second = static_cast<uint32_t>(f.rate * static_cast<uint64_t>(f.frame_bytes()));
  FIRN_RETURN_IF(Number(p + 8, 4) != second,
                 Damaged(file.name(), at, "fmt chunk",
                         absl::StrCat("expected ", second, " bytes a second for ", f.rate,
                                      " Hz, got ", Number(p + 8, 4))));
  return f;
}

constexpr int64_t kUnknown = 0xffffffff;

// Sizes that are written before the frames are known, to be replaced later: ffffffff, ffffffff less
// the header (ffmpeg and others), 7ffff000 in whole frames (sox, espeak), 7fffffff and 80000000
// (arecord). Requires that the size is not that of the file.
bool IsPlaceholder(uint64_t size, int64_t frame_bytes) {
  constexpr uint64_t kPage = 0x1000;
  const uint64_t low = 0x7ffff000 - static_cast<uint64_t>(frame_bytes);
  return (size > low && size <= 0x80000000) || (size > kUnknown - kPage && size <= kUnknown) ||
         size > ~uint64_t{0} - kPage;
}

// The sizes in the header.
struct Sizes {
  bool wide = false;       // RF64
  uint64_t riff = 0;       // from offset 8 on
  uint64_t wide_data = 0;  // of ds64
  bool has_ds64 = false;
};

// The bytes of the frames that begin at `at`; the chunk's own header has the size `stated`.
absl::StatusOr<int64_t> DataBytes(const RandomAccess& file, const Sizes& sizes, const Format& f,
                                  int64_t at, int64_t stated) {
  uint64_t size = static_cast<uint64_t>(stated);
  if (sizes.wide && stated == kUnknown) {
    FIRN_RETURN_IF(!sizes.has_ds64,
                   Damaged(file.name(), at, "data chunk", "expected a ds64 chunk with its size"));
    size = sizes.wide_data;
  }
  const auto left = static_cast<uint64_t>(file.size() - at);
  const auto start = static_cast<uint64_t>(at) - 8;
  // The chunk's size is 0, but the file goes on although the RIFF size leaves no room for more.
  const bool empty_header =
      size == 0 && left > 0 && (sizes.riff <= start || IsPlaceholder(sizes.riff, f.frame_bytes()));
  const bool streamed = empty_header || (size > left && IsPlaceholder(size, f.frame_bytes()));
  if (!streamed) {
    FIRN_RETURN_IF(size > left, Damaged(file.name(), at, "chunk",
                                        absl::StrCat("expected ", size, " bytes, got ", left,
                                                     ": the file ends early")));
    return static_cast<int64_t>(size);
  }
  auto bytes = static_cast<int64_t>(left);
  // Some writers pad the end to an even number of bytes.
  if (f.frame_bytes() > 1 && bytes % f.frame_bytes() == 1 && bytes % 2 == 0) {
    unsigned char last = 1;
    FIRN_RETURN_IF_ERROR(file.ReadAt(file.size() - 1, &last, 1, "data chunk"));
    if (last == 0) --bytes;
  }
  return bytes;
}

absl::Status ReadDs64(const RandomAccess& file, int64_t at, int64_t size, Sizes* sizes) {
  unsigned char p[28] = {};
  FIRN_RETURN_IF(size < 28, Damaged(file.name(), at, "ds64 chunk",
                                    absl::StrCat("expected 28 bytes or more, got ", size)));
  FIRN_RETURN_IF(sizes->has_ds64,
                 Damaged(file.name(), at, "ds64 chunk", "expected one, got a second"));
  FIRN_RETURN_IF_ERROR(file.ReadAt(at, p, 28, "ds64 chunk"));
  sizes->has_ds64 = true;
  if (sizes->riff == kUnknown) sizes->riff = LittleEndian(p, 8);
  sizes->wide_data = LittleEndian(p + 8, 8);
  return absl::OkStatus();
}

absl::StatusOr<Wave> ReadData(const RandomAccess& file, const Format& f, int64_t at, int64_t size,
                              const LoadLimits& limits) {
  FIRN_RETURN_IF(size % f.frame_bytes() != 0,
                 Damaged(file.name(), at, "data chunk",
                         absl::StrCat("expected whole frames of ", f.frame_bytes(), " bytes, got ",
                                      size, " bytes")));
  const int64_t frames = size / f.frame_bytes();
  FIRN_RETURN_IF(frames > limits.max_total_bytes / 4 / f.channels,
                 ResourceExhausted(file.name(), ": ", frames, " frames of ", f.channels,
                                   " channels are more than the ", limits.max_total_bytes,
                                   " bytes allowed (limits.max_total_bytes)"));
  Wave wave{.samples = {}, .sample_rate = f.rate};
  FIRN_ASSIGN_OR_RETURN(
      wave.samples,
      AllocateTensor(TensorSpec::Contiguous(DType::kF32, Shape{f.channels, frames}, Device::Cpu()),
                     AllocTag::kOther));
  auto* out = reinterpret_cast<float*>(wave.samples.impl()->data);
  const int64_t most = std::max<int64_t>(1, 65536 / f.frame_bytes());  // frames at a time
  std::vector<unsigned char> piece(static_cast<size_t>(std::min(most, frames) * f.frame_bytes()));
  for (int64_t start = 0; start < frames; start += most) {
    const int64_t n = std::min(most, frames - start);
    FIRN_RETURN_IF_ERROR(
        file.ReadAt(at + start * f.frame_bytes(), piece.data(), n * f.frame_bytes(), "data chunk"));
    for (int64_t c = 0; c < f.channels; ++c) {
      f.coding->decode(piece.data() + c * f.bytes(), f.frame_bytes(), n, out + c * frames + start);
    }
  }
  return wave;
}

// The first twelve bytes.
absl::StatusOr<Sizes> ReadRiff(const RandomAccess& file) {
  char header[12] = {};
  FIRN_RETURN_IF_ERROR(file.ReadAt(0, header, std::min<int64_t>(file.size(), 12), "RIFF header"));
  const std::string_view name(header, 4);
  const bool wide = name == "RF64" || name == "BW64";
  FIRN_RETURN_IF(name == "RIFX",
                 Unimplemented(file.name(), ": offset 0, RIFX: big-endian sound is not read"));
  if (!wide) FIRN_RETURN_IF_ERROR(ExpectSignature(file, "RIFF", "a WAV file"));
  FIRN_RETURN_IF_ERROR(file.ReadAt(0, header, 12, "RIFF header"));
  FIRN_RETURN_IF(std::string_view(header + 8, 4) != "WAVE",
                 Damaged(file.name(), 8, "form", "expected WAVE: not a WAV file"));
  return Sizes{.wide = wide, .riff = LittleEndian(header + 4, 4)};
}

absl::StatusOr<Wave> Read(const RandomAccess& file, const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(Sizes sizes, ReadRiff(file));
  Format format;
  bool known = false;
  for (int64_t at = 12;;) {
    unsigned char chunk[8] = {};
    FIRN_RETURN_IF_ERROR(file.ReadAt(at, chunk, 8, "chunk"));
    const int64_t size = Number(chunk + 4, 4);
    at += 8;
    const std::string_view name(reinterpret_cast<const char*>(chunk), 4);
    if (name == "data") {
      FIRN_RETURN_IF(!known, Damaged(file.name(), at, "data chunk", "expected a fmt chunk before"));
      FIRN_ASSIGN_OR_RETURN(const int64_t bytes, DataBytes(file, sizes, format, at, size));
      return ReadData(file, format, at, bytes, limits);
    }
    FIRN_RETURN_IF(sizes.wide && size == kUnknown,
                   Unimplemented(file.name(), ": offset ", at,
                                 ", chunk: more than 4 GB of anything but samples"));
    FIRN_RETURN_IF(size > file.size() - at,
                   Damaged(file.name(), at, "chunk",
                           absl::StrCat("expected ", size, " bytes, got ", file.size() - at,
                                        ": the file ends early")));
    if (name == "fmt ") {
      FIRN_RETURN_IF(known, Damaged(file.name(), at, "fmt chunk", "expected one, got a second"));
      FIRN_ASSIGN_OR_RETURN(format, ReadFormat(file, at, size));
      known = true;
    } else if (name == "ds64" && sizes.wide) {
      FIRN_RETURN_IF_ERROR(ReadDs64(file, at, size, &sizes));
    }
    at += size + size % 2;
  }
}

// --- Writing -------------------------------------------------------------------------------------

void Put(std::string* s, uint64_t v, size_t bytes) { internal::AppendLittleEndian(s, v, bytes); }

absl::StatusOr<std::string> FileOf(const Wave& wave, WavFormat format) {
  const Tensor& t = wave.samples;
  FIRN_RETURN_IF(!t.defined() || t.dtype() != DType::kF32 || t.rank() < 1 || t.rank() > 2,
                 InvalidArgument("expected samples f32 [channels, frames], got ",
                                 t.defined() ? t.spec().ToString() : "an undefined tensor"));
  const int64_t channels = t.rank() == 2 ? t.size(0) : 1, frames = t.size(-1);
  FIRN_RETURN_IF(channels < 1 || channels > 65535,
                 InvalidArgument("expected 1 to 65535 channels, got ", channels));
  FIRN_RETURN_IF(
      wave.sample_rate < 1 || wave.sample_rate > 0xffffffff,
      InvalidArgument("expected a sample rate of 1 to 2^32 - 1, got ", wave.sample_rate));
  const Coding& coding = kCodings[static_cast<size_t>(format)];
  const int64_t sample_bytes = coding.bits / 8, frame_bytes = channels * sample_bytes;
  FIRN_RETURN_IF(frame_bytes > 65535 || frames > (0xffffffff - 64) / frame_bytes,
                 InvalidArgument("expected less than 4 GB in frames of at most 65535 bytes, got ",
                                 frames, " frames of ", frame_bytes));
  const auto data_bytes = static_cast<uint32_t>(frames * frame_bytes);
  const auto rate = static_cast<uint32_t>(wave.sample_rate);
  std::string s = "RIFF";
  Put(&s, 36 + data_bytes + data_bytes % 2, 4);
  s += "WAVEfmt ";
  Put(&s, 16, 4);
  Put(&s, coding.encoding, 2);
  Put(&s, static_cast<uint32_t>(channels), 2);
  Put(&s, rate, 4);
  Put(&s, static_cast<uint32_t>(rate * static_cast<uint64_t>(frame_bytes)), 4);
  Put(&s, static_cast<uint32_t>(frame_bytes), 2);
  Put(&s, static_cast<uint32_t>(coding.bits), 2);
  s += "data";
  Put(&s, data_bytes, 4);
  const size_t start = s.size();
  s.resize(start + data_bytes + data_bytes % 2);
  const float* from = t.host_view<float>().data();
  for (int64_t c = 0; c < channels; ++c) {
    coding.encode(from + c * frames, frames, s.data() + start + c * sample_bytes, frame_bytes);
  }
  return s;
}

}  // namespace

absl::StatusOr<Wave> TryParseWav(std::string_view bytes, const std::string& name,
                                 const LoadLimits& limits) {
  const auto file = RandomAccess::FromMemory(
      name, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  return Read(*file, limits);
}

Wave ReadWav(const std::string& path, const LoadLimits& limits) {
  const auto file = ValueOrRaise(RandomAccess::Open(path), "read_wav");
  return ValueOrRaise(Read(*file, limits), "read_wav");
}

void WriteWav(const std::string& path, const Wave& wave, const WriteWavOptions& options) {
  const std::string bytes = ValueOrRaise(FileOf(wave, options.format), "write_wav");
  RaiseIfError(inner::internal::ReplaceFile(path, bytes, inner::internal::WaitFor::kNothing),
               "write_wav");
}

}  // namespace firn::io

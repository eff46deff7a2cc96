// Every format written and read, headers as other programs write them, and damage.
#include "firn/io/wav/wav.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/wav/wav_status.h"
#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Wave Example() {
  return {FromVector(std::vector<float>{0.f, 0.5f, -1.f, 0.25f, -0.5f, 2.f}, {2, 3}), 16000};
}

std::string Bytes(WavFormat format) {
  WriteWav(TempPath("x.wav"), Example(), {.format = format});
  return ReadFile(TempPath("x.wav"));
}

std::string Error(const std::string& bytes, const LoadLimits& limits = {}) {
  const absl::StatusOr<Wave> wave = TryParseWav(bytes, "x.wav", limits);
  EXPECT_FALSE(wave.ok());
  return std::string(wave.status().message());
}

TEST(WavTest, EveryFormatComesBack) {
  for (const WavFormat format : {WavFormat::kPcm8, WavFormat::kPcm16, WavFormat::kPcm24,
                                 WavFormat::kPcm32, WavFormat::kFloat32}) {
    WriteWav(TempPath("x.wav"), Example(), {.format = format});
    const Wave wave = ReadWav(TempPath("x.wav"));
    EXPECT_EQ(wave.sample_rate, 16000);
    ASSERT_EQ(wave.samples.shape(), (Shape{2, 3}));
    const std::vector<float> v = wave.samples.ToVector<float>();
    const bool floating = format == WavFormat::kFloat32;
    // Powers of two are exact; the largest integer of n bits is 1 - 2^(1 - n).
    const double top = 1 - std::ldexp(1, -7 - 8 * static_cast<int>(format));
    EXPECT_THAT(std::vector<float>(v.begin(), v.begin() + 5),
                ElementsAre(0.f, 0.5f, -1.f, 0.25f, -0.5f));
    EXPECT_EQ(v[5], floating ? 2.f : static_cast<float>(top));
  }
}

TEST(WavTest, HasTheHeaderOfTheFormat) {
  const std::string bytes = Bytes(WavFormat::kPcm8);
  EXPECT_EQ(bytes.size(), 44u + 6);
  EXPECT_EQ(bytes.substr(36, 4), "data");
  EXPECT_EQ(bytes.substr(44, 2), "\x80\xa0");  // 0 and 0.25, unsigned: two channels side by side
}

TEST(WavTest, PassesOverOtherChunks) {
  std::string bytes = Bytes(WavFormat::kPcm16);
  bytes.insert(36, std::string("LIST\3\0\0\0abc\0", 12));
  EXPECT_TRUE(TryParseWav(bytes, "x.wav")->samples.Equals(ReadWav(TempPath("x.wav")).samples));
}

TEST(WavTest, ReadsExtensibleFormats) {
  std::string bytes = Bytes(WavFormat::kPcm16);
  bytes[16] = 40;  // the size of "fmt "
  bytes[20] = '\xfe';
  bytes[21] = '\xff';
  bytes.insert(36, std::string(8, '\0') + std::string("\1\0", 2) + std::string(14, '\0'));
  EXPECT_TRUE(TryParseWav(bytes, "x.wav")->samples.Equals(ReadWav(TempPath("x.wav")).samples));
}

// Sound of other kinds is not damaged.
TEST(WavTest, NamesOtherKindsOfFiles) {
  for (const auto& [start, kind] :
       {std::pair{"fLaC", "a FLAC file"}, std::pair{"OggS", "an Ogg file"},
        std::pair{"FORM", "an AIFF file"}, std::pair{"ID3\3", "an MP3 file"},
        std::pair{"version https://git-lfs.github.com/", "a pointer of Git LFS"}}) {
    const absl::Status status = TryParseWav(start + std::string(60, '\1'), "x.wav").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << start;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string("x.wav: it is ") + kind));
  }
}

TEST(WavTest, RefusesDamageAndEveryTruncation) {
  const std::string bytes = Bytes(WavFormat::kPcm24);
  for (size_t n = 0; n < bytes.size(); ++n)
    EXPECT_THAT(Error(bytes.substr(0, n)), HasSubstr("x.wav"));
  const auto with = [&](size_t at, char v) {
    std::string s = bytes;
    s[at] = v;
    return s;
  };
  EXPECT_THAT(Error(with(0, 'X')), HasSubstr("not a WAV file"));
  EXPECT_THAT(Error(with(8, 'X')), HasSubstr("offset 8, form: expected WAVE"));
  EXPECT_THAT(Error(with(20, 2)), HasSubstr("got encoding 2 of 24 bits"));
  EXPECT_THAT(Error(with(22, 0)), HasSubstr("got 0 channels"));
  EXPECT_THAT(Error(with(32, 5)), HasSubstr("in frames of 5 bytes"));
  EXPECT_THAT(Error(with(24, 2)), HasSubstr("bytes a second for"));
  EXPECT_THAT(Error(with(40, 17)), HasSubstr("whole frames of 6 bytes, got 17"));
  EXPECT_THAT(Error(with(43, 127)), HasSubstr("the file ends early"));
  EXPECT_THAT(Error(bytes, {.max_total_bytes = 20}), HasSubstr("20 bytes allowed"));
}

std::string Le(uint64_t v, int bytes) {
  std::string s;
  for (int i = 0; i < bytes; ++i, v >>= 8) s += static_cast<char>(v & 255);
  return s;
}

// Two channels of 16 bits at 8 kHz, with sizes that the header states.
std::string Sound(uint64_t riff, uint64_t data, const std::string& frames,
                  const std::string& before = "", const char* name = "RIFF") {
  return name + Le(riff, 4) + "WAVE" + before + "fmt " + Le(16, 4) + Le(1, 2) + Le(2, 2) +
         Le(8000, 4) + Le(32000, 4) + Le(4, 2) + Le(16, 2) + "data" + Le(data, 4) + frames;
}
std::string Ds64(uint64_t riff, uint64_t data) {
  return "ds64" + Le(28, 4) + Le(riff, 8) + Le(data, 8) + Le(0, 8) + Le(0, 4);
}
const std::string kFrames = Le(0x4000, 2) + Le(0xc000, 2) + Le(0x2000, 2) + Le(0, 2);

std::vector<float> Samples(const std::string& bytes) {
  const absl::StatusOr<Wave> wave = TryParseWav(bytes, "x.wav");
  EXPECT_TRUE(wave.ok()) << wave.status();
  return wave.ok() ? wave->samples.ToVector<float>() : std::vector<float>();
}

// Sizes that were never filled in, as programs that write into a pipe leave them.
TEST(WavTest, ReadsStreamedSoundToTheEndOfTheFile) {
  const std::pair<uint64_t, uint64_t> sizes[] = {
      {0xffffffff, 0xffffffff},       // ffmpeg, lame
      {0xffffffff, 0xffffffff - 36},  // the rest without the header
      {0x7ffff024, 0x7ffff000},       // sox, espeak
      {0x7ffff024, 0x7ffffffc},       // in whole frames
      {0x80000024, 0x80000000},       // arecord
      {0x7fffffff, 0x7fffffff - 36},
      {0, 0},   // GStreamer
      {36, 0},  // the header before any frames
      {0xffffffff, 0},
      {44, 0xffffffff},
  };
  for (const auto& [riff, data] : sizes) {
    EXPECT_THAT(Samples(Sound(riff, data, kFrames)), ElementsAre(0.5f, 0.25f, -0.5f, 0.f))
        << riff << ", " << data;
    EXPECT_THAT(Error(Sound(riff, data, kFrames + "ab")), HasSubstr("whole frames"));
  }
  EXPECT_EQ(TryParseWav(Sound(0xffffffff, 0xffffffff, ""), "x.wav")->samples.shape(),
            (Shape{2, 0}));
  // A size that is too large stays an error, also a very large one.
  for (const uint64_t data : {9u, 0x10000000u, 0x7fff0000u, 0x80001000u, 0xfffe0000u}) {
    EXPECT_THAT(Error(Sound(36 + data, data, kFrames)), HasSubstr("the file ends early")) << data;
  }
  // A file without frames whose header says so.
  EXPECT_EQ(TryParseWav(Sound(44, 0, "LIST" + Le(0, 4)), "x.wav")->samples.shape(), (Shape{2, 0}));
}

TEST(WavTest, ReadsFilesBeyond4Gigabytes) {
  for (const char* name : {"RF64", "BW64"}) {
    const auto sound = [&](uint64_t riff, uint64_t data, uint64_t stated = 0xffffffff) {
      return Sound(0xffffffff, stated, kFrames + "LIST" + Le(0, 4), Ds64(riff, data), name);
    };
    for (const std::string& bytes : {sound(88, 8), sound(88, 8, 8)}) {
      EXPECT_THAT(Samples(bytes), ElementsAre(0.5f, 0.25f, -0.5f, 0.f));
    }
    EXPECT_THAT(Error(sound(88, 1000)), HasSubstr("expected 1000 bytes, got 16"));
    EXPECT_THAT(Error(sound(88, uint64_t{1} << 40)), HasSubstr("the file ends early"));
    EXPECT_THAT(Error(Sound(0xffffffff, 0xffffffff, kFrames, "", name)),
                HasSubstr("expected a ds64 chunk"));
    EXPECT_THAT(Error(Sound(0xffffffff, 8, kFrames, Ds64(0, 8) + Ds64(0, 8), name)),
                HasSubstr("expected one, got a second"));
    EXPECT_THAT(Error(Sound(0xffffffff, 8, kFrames, "big " + Le(0xffffffff, 4), name)),
                HasSubstr("more than 4 GB of anything but samples"));
    // A streamed file, in which no size was filled in.
    for (const uint64_t data : {uint64_t{0}, ~uint64_t{0}, uint64_t{0xffffffff}}) {
      EXPECT_THAT(Samples(Sound(0xffffffff, 0xffffffff, kFrames, Ds64(0, data), name)),
                  ElementsAre(0.5f, 0.25f, -0.5f, 0.f));
    }
  }
  const absl::Status big_endian = TryParseWav("RIFX" + Le(0, 4) + "WAVE", "x.wav").status();
  EXPECT_EQ(big_endian.code(), absl::StatusCode::kUnimplemented);
}

// Damage, a kind that is not read, and a limit have a code each.
TEST(WavTest, TellsDamageFromWhatIsNotRead) {
  const std::string bytes = Bytes(WavFormat::kPcm16);
  const auto code = [](const std::string& b, const LoadLimits& limits = {}) {
    return TryParseWav(b, "x.wav", limits).status().code();
  };
  for (const char encoding : {'\2', '\6', '\7', '\21', '\61', '\125'}) {
    std::string other = bytes;
    other[20] = encoding;
    EXPECT_EQ(code(other), absl::StatusCode::kUnimplemented) << int{encoding};
  }
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(code(bytes.substr(0, n)), absl::StatusCode::kDataLoss) << n;
  }
  EXPECT_EQ(code(bytes, {.max_total_bytes = 3}), absl::StatusCode::kResourceExhausted);
}

TEST(WavTest, RefusesWhatCannotBeWritten) {
  const auto error = [](const Wave& wave) {
    return firn::testing::ErrorOf([&] { WriteWav(TempPath("bad.wav"), wave); });
  };
  EXPECT_THAT(error({}), HasSubstr("undefined"));
  EXPECT_THAT(error({FromValues<int64_t>({1}), 8000}), HasSubstr("expected samples f32"));
  EXPECT_THAT(error({FromValues({1.f}), 0}), HasSubstr("sample rate"));
}

}  // namespace
}  // namespace firn::io

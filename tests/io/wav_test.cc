// Every format written and read, headers as other programs write them, and damage.
#include "firn/io/wav.h"

#include <cmath>
#include <string>
#include <vector>

#include "firn/io/wav_status.h"
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
  const absl::StatusOr<Wave> wave = ParseWav(bytes, "x.wav", limits);
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
  EXPECT_TRUE(ParseWav(bytes, "x.wav")->samples.Equals(ReadWav(TempPath("x.wav")).samples));
}

TEST(WavTest, ReadsExtensibleFormats) {
  std::string bytes = Bytes(WavFormat::kPcm16);
  bytes[16] = 40;  // the size of "fmt "
  bytes[20] = '\xfe';
  bytes[21] = '\xff';
  bytes.insert(36, std::string(8, '\0') + std::string("\1\0", 2) + std::string(14, '\0'));
  EXPECT_TRUE(ParseWav(bytes, "x.wav")->samples.Equals(ReadWav(TempPath("x.wav")).samples));
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
  EXPECT_THAT(Error(with(40, 17)), HasSubstr("whole frames of 6 bytes, got 17"));
  EXPECT_THAT(Error(with(43, 127)), HasSubstr("the file ends early"));
  EXPECT_THAT(Error(bytes, {.max_total_bytes = 20}), HasSubstr("20 bytes allowed"));
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

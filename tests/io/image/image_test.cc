// Compares each format with known pixels, and tests options, limits and damage.
#include "firn/io/image/image.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/device/cpu_allocator.h"
#include "firn/io/image/image_status.h"
#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/image/image_test_files.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> Values(const Tensor& t) { return t.ToVector<int64_t>(); }
std::string Error(const std::string& bytes, const DecodeImageOptions& options = {}) {
  return firn::testing::ErrorOf([&] { DecodeImage(bytes, options); });
}

TEST(ImageTest, PngComesBackAsItWas) {
  for (const int channels : {1, 2, 3, 4}) {
    const Tensor image = Ramp(channels, 13, 21);
    EXPECT_TRUE(DecodeImage(EncodePng(image)).Equals(image)) << channels;
    EXPECT_TRUE(DecodeImage(EncodePng(image, {.level = 0})).Equals(image)) << channels;
  }
}

// libpng itself stops at a million pixels a side.
TEST(ImageTest, PngKeepsLongSides) {
  constexpr int64_t kLong = 1'000'001;
  for (const Shape& shape : {Shape{1, 1, kLong}, Shape{1, kLong, 1}}) {
    std::vector<uint8_t> v(static_cast<size_t>(kLong));
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<uint8_t>(i * i / 7);
    const Tensor image = FromVector(std::move(v), shape);
    EXPECT_TRUE(DecodeImage(EncodePng(image, {.level = 1})).Equals(image)) << shape;
  }
}

TEST(ImageTest, SaysWhenThereIsNoFile) {
  EXPECT_EQ(TryReadImage(TempPath("nothing.png")).status().code(), absl::StatusCode::kNotFound);
}

TEST(ImageTest, ExpandsPalettesAndPasses) {
  for (const bool interlaced : {false, true}) {
    const Tensor image = DecodeImage(PalettePng(9, 5, interlaced));
    ASSERT_EQ(image.shape(), (Shape{4, 5, 9}));
    const auto v = Values(image);
    for (size_t i = 0; i < 45; ++i) {
      for (size_t c = 0; c < 3; ++c) EXPECT_EQ(v[c * 45 + i], i % 4 == c + 1 ? 255 : 0) << i;
      EXPECT_EQ(v[3 * 45 + i], i % 4 == 3 ? 0 : 255) << i;
    }
  }
}

TEST(ImageTest, MixesInks) {
  const Tensor image = DecodeImage(CmykJpeg(200, 100, 50, 128));
  ASSERT_EQ(image.shape(), (Shape{3, 8, 8}));
  const auto v = Values(image);
  EXPECT_LE(std::abs(v[0] - 200 * 128 / 255), 2);  // each ink is off by one at quality 100
  EXPECT_LE(std::abs(v[64] - 100 * 128 / 255), 2);
  EXPECT_LE(std::abs(v[128] - 50 * 128 / 255), 2);
  EXPECT_EQ(DecodeImage(CmykJpeg(9, 9, 9, 9), {.color = ImageColor::kGrey}).size(0), 1);
}

TEST(ImageTest, KeepsSixteenBitsWhenAsked) {
  const Tensor image = FromVector(std::vector<int32_t>{0, 128, 129, 256, 40000, 65535}, {1, 2, 3});
  const std::string png = EncodePng(image);
  EXPECT_TRUE(DecodeImage(png, {.keep_16_bits = true}).Equals(image));
  const Tensor narrow = DecodeImage(png);
  EXPECT_EQ(narrow.dtype(), DType::kU8);
  EXPECT_THAT(Values(narrow), ElementsAre(0, 0, 1, 1, 156, 255));  // v / 257 rounded
  EXPECT_THAT(Values(DecodeImage(png, {.color = ImageColor::kRgba, .keep_16_bits = true})),
              ElementsAre(0, 128, 129, 256, 40000, 65535, 0, 128, 129, 256, 40000, 65535, 0, 128,
                          129, 256, 40000, 65535, 65535, 65535, 65535, 65535, 65535, 65535));
}

TEST(ImageTest, ConvertsColors) {
  const Tensor pixel = FromVector(std::vector<uint8_t>{200, 100, 50, 7}, {4, 1, 1});
  const std::string png = EncodePng(pixel);
  EXPECT_THAT(Values(DecodeImage(png, {.color = ImageColor::kGrey})), ElementsAre(124));
  EXPECT_THAT(Values(DecodeImage(png, {.color = ImageColor::kRgb})), ElementsAre(200, 100, 50));
  const std::string grey = EncodePng(FromVector(std::vector<uint8_t>{9, 8}, {2, 1, 1}));
  EXPECT_THAT(Values(DecodeImage(grey, {.color = ImageColor::kRgba})), ElementsAre(9, 9, 9, 8));
  EXPECT_THAT(Values(DecodeImage(grey, {.color = ImageColor::kGrey})), ElementsAre(9));
}

TEST(ImageTest, JpegIsCloseAndGreyIsItsLuma) {
  const Tensor image = Ramp(1, 24, 24);
  const Tensor back = DecodeImage(EncodeJpeg(image, {.quality = 100}));
  ASSERT_EQ(back.shape(), image.shape());
  const auto a = Values(image), b = Values(back);
  // Steps of quantisation are 1 at quality 100: a coefficient is off by half at most, so a pixel by
  // a few units.
  for (size_t i = 0; i < a.size(); ++i) EXPECT_LE(std::abs(a[i] - b[i]), 4) << i;
  const std::string color = EncodeJpeg(Ramp(3, 17, 9), {.halve_chroma = false});
  EXPECT_EQ(DecodeImage(color).shape(), (Shape{3, 17, 9}));
  EXPECT_EQ(DecodeImage(color, {.color = ImageColor::kGrey}).shape(), (Shape{1, 17, 9}));
}

Tensor Noise(int64_t side) {
  std::mt19937 random(1);
  std::vector<uint8_t> v(static_cast<size_t>(3 * side * side));
  for (uint8_t& x : v) x = static_cast<uint8_t>(random());
  return FromVector(std::move(v), {3, side, side});
}

// The image is so large that the encoder hands it over in several pieces.
TEST(ImageTest, ALongJpegIsWhole) {
  const std::string jpeg = EncodeJpeg(Noise(200), {.quality = 100, .halve_chroma = false});
  EXPECT_GT(jpeg.size(), 100'000u);
  EXPECT_TRUE(jpeg.ends_with("\xff\xd9"));
  const auto a = Values(Noise(200)), b = Values(DecodeImage(jpeg));
  int64_t apart = 0;
  for (size_t i = 0; i < a.size(); ++i) apart += std::abs(a[i] - b[i]);
  EXPECT_LT(apart, 3 * static_cast<int64_t>(a.size()));
}

rlim_t AddressSpace() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

// Memory may run out at any moment: before the library is set up, or when much is written.
TEST(ImageTest, SaysWhenThereIsNoMemoryForAJpeg) {
  for (const char* sanitizer : {"__asan_init", "__tsan_init"}) {
    if (dlsym(RTLD_DEFAULT, sanitizer) != nullptr) GTEST_SKIP() << "it ends the program itself";
  }
  const Tensor image = Noise(700);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  int refused = 0;
  absl::Status status = absl::UnknownError("never tried");
  for (rlim_t more = 0; !status.ok() && more < (rlim_t{64} << 20); more += rlim_t{128} << 10) {
    const rlimit limit = {AddressSpace() + more, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    status = firn::testing::StatusOf([&] { EncodeJpeg(image, {.quality = 100}); });
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    if (status.ok()) break;
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    ++refused;
  }
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GT(refused, 4);
}

TEST(ImageTest, ReadsAHundredScansOfAJpegAndNoMore) {
  const Tensor image = DecodeImage(JpegOfScans(100));
  EXPECT_EQ(image.shape(), (Shape{1, 16, 16}));
  EXPECT_THAT(Error(JpegOfScans(101)), HasSubstr("more than 100 scans"));
  EXPECT_THAT(Error(JpegOfScans(127)), HasSubstr("more than 100 scans"));
}

TEST(ImageTest, TurnsAsExifAsks) {
  const std::string jpeg = EncodeJpeg(Ramp(1, 16, 8), {.quality = 95});
  const Tensor stored = DecodeImage(jpeg);
  const auto at = [](const Tensor& t, int64_t y, int64_t x) {
    return t.ToVector<int64_t>()[static_cast<size_t>(y * t.size(2) + x)];
  };
  const Tensor turned = DecodeImage(WithOrientation(jpeg, 6));  // clockwise
  ASSERT_EQ(turned.shape(), (Shape{1, 8, 16}));
  EXPECT_EQ(at(turned, 0, 15), at(stored, 0, 0));
  EXPECT_EQ(at(turned, 7, 15), at(stored, 0, 7));
  EXPECT_EQ(at(turned, 0, 0), at(stored, 15, 0));
  const Tensor back = DecodeImage(WithOrientation(jpeg, 8));
  EXPECT_EQ(at(back, 7, 0), at(stored, 0, 0));
  EXPECT_EQ(at(back, 0, 0), at(stored, 0, 7));
  EXPECT_EQ(at(DecodeImage(WithOrientation(jpeg, 2)), 0, 7), at(stored, 0, 0));
  EXPECT_EQ(at(DecodeImage(WithOrientation(jpeg, 3)), 15, 7), at(stored, 0, 0));
  EXPECT_EQ(at(DecodeImage(WithOrientation(jpeg, 4)), 15, 0), at(stored, 0, 0));
  EXPECT_EQ(at(DecodeImage(WithOrientation(jpeg, 5)), 7, 15), at(stored, 15, 7));
  EXPECT_EQ(at(DecodeImage(WithOrientation(jpeg, 5)), 7, 0), at(stored, 0, 7));
  EXPECT_EQ(at(DecodeImage(WithOrientation(jpeg, 7)), 7, 15), at(stored, 0, 0));
  EXPECT_TRUE(DecodeImage(WithOrientation(jpeg, 6), {.orient = false}).Equals(stored));
  EXPECT_TRUE(DecodeImage(WithOrientation(jpeg, 9)).Equals(stored));
}

TEST(ImageTest, ReadsGif) {
  for (const bool interlaced : {false, true}) {
    const Tensor image = DecodeImage(Gif(4, 9, 4, interlaced));
    ASSERT_EQ(image.shape(), (Shape{3, 9, 4}));
    const auto v = Values(image);
    for (size_t i = 0; i < v.size(); ++i) EXPECT_EQ(v[i], static_cast<int64_t>(i % 4) * 85) << i;
  }
  const Tensor bordered = DecodeImage(Gif(2, 1, 2, false, 1, 0));
  ASSERT_EQ(bordered.shape(), (Shape{4, 3, 4}));
  const auto v = Values(bordered);
  EXPECT_EQ(v[36 + 4 + 1], 0);    // colour 0 is transparent
  EXPECT_EQ(v[36 + 4 + 2], 255);  // colour 1 is not
  EXPECT_EQ(v[4 + 2], 255);
  EXPECT_EQ(v[36], 0);  // the border
}

TEST(ImageTest, ReadsTiff) {
  for (const uint16_t compression : std::vector<uint16_t>{1, 5, 8, 32773}) {
    const Tensor image = DecodeImage(Tiff("t.tiff", 5, 3, {.compression = compression}));
    ASSERT_EQ(image.shape(), (Shape{3, 3, 5})) << compression;
    EXPECT_EQ(Values(image)[0 * 15 + 7], 21);
    EXPECT_EQ(Values(image)[2 * 15 + 14], 44);
  }
  EXPECT_EQ(Values(DecodeImage(Tiff("t.tiff", 2, 2, {.samples = 1, .white_is_zero = true}))),
            (std::vector<int64_t>{255, 254, 253, 252}));
  EXPECT_EQ(Values(DecodeImage(Tiff("t.tiff", 2, 1, {.samples = 4}))),
            (std::vector<int64_t>{0, 4, 1, 5, 2, 6, 3, 7}));  // not multiplied by alpha
  EXPECT_EQ(
      Values(DecodeImage(Tiff("t.tiff", 2, 1, {.samples = 1, .bits = 16}), {.keep_16_bits = true})),
      (std::vector<int64_t>{0x100, 0x302}));
  EXPECT_EQ(DecodeImage(Tiff("t.tiff", 3, 2, {.orientation = 6})).shape(), (Shape{3, 3, 2}));
  const Tensor tiled = DecodeImage(Tiff("t.tiff", 16, 16, {.compression = 8, .tiled = true}));
  ASSERT_EQ(tiled.shape(), (Shape{3, 16, 16}));
  EXPECT_EQ(Values(tiled)[1], 3);
  EXPECT_EQ(Values(tiled)[256 + 16], 49);
}

TEST(ImageTest, ReadsBmpAndPnm) {
  for (const int bits : {8, 24}) {
    const Tensor image = DecodeImage(Bmp(5, 3, bits));
    ASSERT_EQ(image.shape(), (Shape{3, 3, 5}));
    for (int64_t i = 0; i < 45; ++i) EXPECT_EQ(Values(image)[static_cast<size_t>(i)], i % 15);
  }
  EXPECT_THAT(Values(DecodeImage("P1 3 1\n10 1")), ElementsAre(0, 255, 0));
  EXPECT_THAT(Values(DecodeImage("P2\n#x\n2 1 4\n0 3\n")), ElementsAre(0, 191));
  EXPECT_THAT(Values(DecodeImage("P3 1 1 255 1 2 3")), ElementsAre(1, 2, 3));
  EXPECT_THAT(Values(DecodeImage("P4 3 2\n\xa0\x40")), ElementsAre(0, 255, 0, 255, 0, 255));
  EXPECT_THAT(Values(DecodeImage("P5 2 1 255\nab")), ElementsAre('a', 'b'));
  EXPECT_THAT(Values(DecodeImage(std::string("P6 1 1 65535\n\0\1\1\0\xff\xff", 19),
                                 {.keep_16_bits = true})),
              ElementsAre(1, 256, 65535));
}

TEST(ImageTest, ReadsRunsOfBmp) {
  std::string bmp = Bmp(4, 2, 8).substr(0, 54 + 1024);
  bmp[30] = 1;  // the compression
  using namespace std::string_literals;
  bmp += "\x03\x07\x00\x00"s + "\x00\x03\x01\x02\x03\x00"s + "\x01\x09\x00\x01"s;
  const Tensor image = DecodeImage(bmp, {.color = ImageColor::kGrey});
  EXPECT_THAT(Values(image), ElementsAre(1, 2, 3, 9, 7, 7, 7, 0));
  EXPECT_THAT(Error(bmp.substr(0, bmp.size() - 2)), HasSubstr("runs: the file ends early"));
}

TEST(ImageTest, ChecksSizesBeforeMemoryIsTaken) {
  CpuAllocator().ResetPeak();
  const int64_t before = CpuAllocator().stats().live_bytes;
  EXPECT_THAT(
      Error("P5 2147483647 2147483647 255\n"),
      HasSubstr("offset 28, pixels: expected those of 2147483647 x 2147483647, got 1 byte"));
  EXPECT_THAT(Error("P6 10000 10000 65535\nx"), HasSubstr("the file ends early"));
  std::string bmp = Bmp(5, 4);
  bmp[21] = bmp[25] = 0x7f;  // the sides
  EXPECT_THAT(Error(bmp), HasSubstr("the file ends early"));
  std::string gif = Gif(4, 4, 4, false);
  gif[6] = gif[7] = gif[8] = '\xff';  // the canvas, 65535 x 255
  EXPECT_THAT(Error(gif), HasSubstr("size: 65535 x 255 pixels of 8 bits cannot lie in a file of"));
  gif[9] = '\xff';
  EXPECT_THAT(Error(gif), HasSubstr("65535 x 65535 pixels are more than the 134217728 allowed"));
  std::string png = EncodePng(Ramp(1, 2, 2));
  png[18] = 0x40;  // a width of 16386
  EXPECT_NE(Error(png), "");
  EXPECT_THAT(Error(Bmp(5, 4), {.limits = {.max_pixels = 19}}),
              HasSubstr("5 x 4 pixels are more than the 19 allowed"));
  EXPECT_THAT(Error(EncodeJpeg(Ramp(3, 8, 8)), {.limits = {.max_bytes = 100}}),
              HasSubstr("more than the 100 bytes allowed"));
  EXPECT_LT(CpuAllocator().stats().peak_bytes - before, 1 << 20);
}

TEST(ImageTest, RefusesEveryTruncation) {
  for (const auto& [name, bytes] : SmallImages()) {
    ASSERT_TRUE(TryParseImage(bytes, name).ok()) << name << TryParseImage(bytes, name).status();
    // GIF's last byte is its end mark, which comes after the first image; a text may end anywhere.
    const size_t needed = name == "border.gif" || name == "interlaced.gif" ? bytes.size() - 2
                          : name == "text.pgm"                             ? bytes.size() - 1
                                                                           : bytes.size();
    for (size_t n = 0; n < needed; ++n) {
      // Ends of TIFFs and rows of BMPs are filled up by 0 to 3 bytes that no reader asks for.
      if ((name.ends_with(".tiff") || name.ends_with(".bmp")) && n + 4 >= needed) continue;
      const auto image = TryParseImage(bytes.substr(0, n), name);
      EXPECT_FALSE(image.ok()) << name << " of " << n << " bytes";
      EXPECT_THAT(std::string(image.status().message()), HasSubstr(name));
    }
  }
}

TEST(ImageTest, NamesWhatIsWrong) {
  EXPECT_THAT(Error("hello"),
              HasSubstr("offset 0, signature: expected PNG, JPEG, GIF, TIFF, BMP or "
                        "PNM, got bytes 68 65 6c 6c"));
  EXPECT_NE(Error(""), "");
  EXPECT_THAT(firn::testing::ErrorOf([] { ReadImage(TempPath("none.png")); }),
              HasSubstr("none.png"));
  EXPECT_THAT(firn::testing::ErrorOf([] { EncodePng(Ramp(5, 2, 2)); }),
              HasSubstr("1 to 4 channels"));
  EXPECT_THAT(firn::testing::ErrorOf([] { EncodeJpeg(Ramp(2, 2, 2)); }),
              HasSubstr("1 or 3 channels"));
  EXPECT_THAT(firn::testing::ErrorOf([] { EncodeJpeg(Ramp(1, 2, 2), {.quality = 0}); }),
              HasSubstr("quality of 1 to 100"));
  EXPECT_THAT(firn::testing::ErrorOf([] { EncodePng(FromValues<int32_t>({1})); }),
              HasSubstr("[height, width]"));
}

TEST(ImageTest, WritesFilesByTheirNames) {
  const std::string path = TempPath("image.PNG");
  WriteImage(path, Ramp(3, 4, 5));
  EXPECT_TRUE(ReadImage(path).Equals(Ramp(3, 4, 5)));
  WriteImage(TempPath("image.jpg"), Ramp(3, 4, 5), {.quality = 50});
  EXPECT_EQ(ReadImage(TempPath("image.jpg")).shape(), (Shape{3, 4, 5}));
  EXPECT_THAT(firn::testing::ErrorOf([] { WriteImage(TempPath("image.gif"), Ramp(3, 4, 5)); }),
              HasSubstr(".png, .jpg or .jpeg"));
}

}  // namespace
}  // namespace firn::io

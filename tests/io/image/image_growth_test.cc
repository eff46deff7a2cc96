// Four times as many of anything that a file may repeat take at most about four times the work; a
// reader that searches all earlier pieces for each new one takes sixteen times. Work is the
// processor's time: libraries alone take too many instructions to be counted one by one.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "firn/io/image/image_status.h"
#include "gtest/gtest.h"
#include "tests/growth.h"
#include "tests/io/image/image_bytes.h"
#include "tests/io/image/image_test_files.h"

namespace firn::io {
namespace {

using namespace std::string_literals;

std::string Repeat(const std::string& s, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += s;
  return all;
}

// Between 4 and 16. Caches that hold the few and not the many make somewhat more of four.
constexpr double kMostTimes = 9;

struct Repetition {
  const char* name;
  int n;
  std::function<std::string(int n)> file;
  bool is_read = true;
};

std::string Jpeg(const std::string& segment, int n) {
  static const std::string jpeg = EncodeJpeg(Ramp(1, 8, 8));
  return WithSegments(jpeg, Repeat(segment, n));
}

std::string Png(const std::string& before, const std::string& data, const std::string& behind) {
  return PngOf({PngChunk("IHDR", PngHeader(2, 1, 8, 0)), before, data, behind});
}

std::string PngData() { return PngChunk("IDAT", Deflate("\0\5\7"s)); }

// A PNG whose IDAT chunks have one byte each; all stored blocks but the last are empty.
std::string PngPieces(int n) {
  std::string data = "\x78\x01" + Repeat("\0\0\0\xff\xff"s, n / 5) + Deflate("\0\5\7"s).substr(2);
  std::string chunks;
  for (const char c : data) chunks += PngChunk("IDAT", std::string(1, c));
  return Png("", chunks, "");
}

std::string GifBehind(const std::string& before) {
  return GifOf(3, 1, {{4, 3}, {1, 3}, {2, 3}, {3, 3}, {5, 4}}, before);
}

std::string GifOfClears(int n) {
  std::vector<GifCode> codes(static_cast<size_t>(n), {4, 3});
  for (const unsigned c : {1u, 2u, 3u}) codes.push_back({c, 3});
  codes.push_back({5, 4});
  return GifOf(3, 1, codes, "", 1);
}

std::string TiffOfTags(int n) {
  auto tags = TiffTags(2, 2, 8, 1, 1, 4);
  for (int i = 0; i < n; ++i) tags.push_back({40000 + i, 3, {7}});
  return TiffOf(tags, "\1\2\3\4");
}

std::string TiffOfStrips(int n, uint32_t compression) {
  const auto rows = static_cast<uint32_t>(n);
  const std::string row = compression == 32773 ? "\0x"s : compression == 8 ? Deflate("x") : "x";
  const auto bytes = static_cast<uint32_t>(row.size());
  std::vector<uint32_t> offsets, counts;
  for (uint32_t i = 0; i < rows; ++i) {
    offsets.push_back(8 + i * bytes);
    counts.push_back(bytes);
  }
  return TiffOf(
      TiffTags(1, rows, 8, 1, 1, bytes,
               {{259, 3, {compression}}, {273, 4, offsets}, {278, 4, {1}}, {279, 4, counts}}),
      Repeat(row, n));
}

// Strips that all are the whole of the data, which are long and hold a row.
std::string TiffOfOneStripForAll(int n) {
  const auto rows = static_cast<uint32_t>(n);
  const std::string data = "\x78\x01" + Repeat("\0\0\0\xff\xff"s, n) + Deflate("x").substr(2);
  const std::vector<uint32_t> offsets(rows, 8), counts(rows, static_cast<uint32_t>(data.size()));
  return TiffOf(TiffTags(1, rows, 8, 1, 1, 1,
                         {{259, 3, {8}}, {273, 4, offsets}, {278, 4, {1}}, {279, 4, counts}}),
                data);
}

std::string TiffOfDirectories(int n) {
  std::string tiff = TiffOf(TiffTags(2, 2, 8, 1, 1, 4), "\1\2\3\4");
  const std::string directory = Little(0, 2);
  size_t link = tiff.size() - 4;
  for (int i = 0; i < n; ++i) {
    tiff.replace(link, 4, Little(tiff.size(), 4));
    link = tiff.size() + 2;
    tiff += directory + Little(0, 4);
  }
  return tiff;
}

std::string BmpOfRuns(const std::string& pair, int n) {
  std::string bmp = Bmp(4, 2, 8).substr(0, 54 + 1024);
  bmp[30] = 1;
  return bmp + Repeat(pair, n) + "\0\1"s;
}

std::vector<Repetition> Repetitions() {
  const std::string exif = "Exif\0\0II*\0\x08\0\0\0\1\0\0\1\3\0\1\0\0\0\1\0\0\0"s;
  return {
      {"jpeg_app1", 8000, [](int n) { return Jpeg(JpegSegment(0xe1, ""), n); }},
      {"jpeg_exif", 2000, [=](int n) { return Jpeg(JpegSegment(0xe1, exif), n); }},
      {"jpeg_comments", 4000, [](int n) { return Jpeg(JpegSegment(0xfe, "x"), n); }},
      {"jpeg_app13", 4000, [](int n) { return Jpeg(JpegSegment(0xed, "x"), n); }},
      {"jpeg_fill", 20000, [](int n) { return Jpeg("\xff", n); }},
      {"jpeg_tables", 500,
       [](int n) { return Jpeg(JpegSegment(0xdb, "\3"s + std::string(64, '\1')), n); }},
      {"jpeg_scans", 5, [](int n) { return JpegOfScans(n); }},
      {"png_texts", 4000,
       [](int n) { return Png(Repeat(PngChunk("tEXt", "k\0v"s), n), PngData(), ""); }},
      {"png_texts_behind", 4000,
       [](int n) { return Png("", PngData(), Repeat(PngChunk("zTXt", "k\0\0v"s), n)); }},
      {"png_private", 4000,
       [](int n) { return Png(Repeat(PngChunk("prVt", ""), n), PngData(), ""); }},
      {"png_pieces", 4000, PngPieces},
      {"gif_comments", 4000, [](int n) { return GifBehind(Repeat("!\xfe\1x\0"s, n)); }},
      {"gif_pieces_of_comment", 8000,
       [](int n) { return GifBehind("!\xfe" + Repeat("\1x", n) + "\0"s); }},
      {"gif_controls", 4000, [](int n) { return GifBehind(Repeat("!\xf9\4\1\0\0\2\0"s, n)); }},
      {"gif_clears", 8000, GifOfClears},
      {"gif_frames", 1000, [](int n) { return Repeat(GifBehind(""), n); }},
      {"tiff_tags", 1000, TiffOfTags},
      {"tiff_strips", 2000, [](int n) { return TiffOfStrips(n, 1); }},
      {"tiff_strips_of_deflate", 500, [](int n) { return TiffOfStrips(n, 8); }},
      {"tiff_strips_of_packbits", 1000, [](int n) { return TiffOfStrips(n, 32773); }},
      {"tiff_one_strip_for_all", 100, TiffOfOneStripForAll, false},
      {"tiff_directories", 4000, TiffOfDirectories},
      {"bmp_ends_of_rows", 8000, [](int n) { return BmpOfRuns("\0\2\0\0"s, n); }},
      {"pnm_comments", 4000, [](int n) { return "P5\n" + Repeat("# x\n", n) + "2 1 255\nab"; }},
      {"pnm_blanks", 40000, [](int n) { return "P2 2 1 255" + Repeat(" ", n) + "1 2\n"; }},
      {"pnm_numbers", 4000,
       [](int n) { return "P2 " + std::to_string(n) + " 1 255" + Repeat(" 7", n); }},
  };
}

// How many decodings take some milliseconds.
int TimesOf(const std::string& file) {
  const double begin = firn::testing::ThreadSeconds();
  TryParseImage(file, "x").IgnoreError();
  const double seconds = firn::testing::ThreadSeconds() - begin;
  return static_cast<int>(std::clamp(0.004 / (seconds + 1e-6), 1.0, 4000.0));
}

class ImageGrowthTest : public ::testing::TestWithParam<Repetition> {};

TEST_P(ImageGrowthTest, TimeGrowsAsTheFile) {
  const Repetition& r = GetParam();
  const std::string few = r.file(r.n), many = r.file(4 * r.n);
  for (const std::string& file : {few, many}) {
    const auto image = TryParseImage(file, r.name);  // also makes what libraries make only once
    EXPECT_TRUE(image.ok() || !r.is_read) << image.status();
  }
  const int times = TimesOf(few);
  const double growth = firn::testing::GrowthOf(
      [&](int n) {
        const std::string& file = n == r.n ? few : many;
        for (int i = 0; i < times; ++i) TryParseImage(file, "x").IgnoreError();
      },
      r.n, kMostTimes);
  EXPECT_LE(growth, kMostTimes);
}

INSTANTIATE_TEST_SUITE_P(Formats, ImageGrowthTest, ::testing::ValuesIn(Repetitions()),
                         [](const auto& repetition) { return std::string(repetition.param.name); });

}  // namespace
}  // namespace firn::io

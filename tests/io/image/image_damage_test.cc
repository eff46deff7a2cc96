// Every format tells damage, kinds that are not read, and limits apart, and mends no damage
// silently.
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/image/image_status.h"
#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/image/image_bytes.h"
#include "tests/io/image/image_errors.h"
#include "tests/io/image/image_test_files.h"

namespace firn::io {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- JPEG

std::string WithFrame(const std::string& jpeg, int marker, int bits = 8) {
  const size_t at = jpeg.find("\xff\xc0");
  return With(With(jpeg, at + 1, std::string(1, static_cast<char>(marker))), at + 4,
              std::string(1, static_cast<char>(bits)));
}

TEST(ImageDamageTest, NamesTheProcessOfAJpegThatIsNotRead) {
  const std::string jpeg = EncodeJpeg(Ramp(1, 8, 8));
  ExpectError(WithFrame(jpeg, 0xc3), kUnread, "JPEG: lossless coding is not supported");
  for (const int marker : {0xc5, 0xc6, 0xc7}) {
    ExpectError(WithFrame(jpeg, marker), kUnread, "hierarchical coding");
  }
  for (const int marker : {0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf}) {
    ExpectError(WithFrame(jpeg, marker), kUnread, "arithmetic coding");
  }
  ExpectError(WithFrame(jpeg, 0xc1, 12), kUnread, "12 bits a sample");
  ExpectError(WithFrame(jpeg, 0xc0, 12), kDamage, "12");
  ExpectError(WithFrame(jpeg, 0xc1, 9), kDamage, "9");
  ExpectError(WithFrame(jpeg, 0xf7), kUnread, "JPEG-LS");
  // Frames of extensions, and of frames that build on each other, which a segment like a frame's
  // announces.
  ExpectError(WithFrame(jpeg, 0xc8), kUnread, "Unsupported JPEG process");
  ExpectError(WithSegments(jpeg, JpegSegment(0xde, "\x8\0\x8\0\x8\1\1\x11\0"s)), kUnread,
              "hierarchical coding");
  ExpectError(With(jpeg, jpeg.find("\xff\xc0") + 5, "\0\0"s), kUnread, "DNL");
  ExpectError(JpegOfScans(101), kLimit, "more than 100 scans");
  ExpectError(jpeg.substr(0, jpeg.size() - 9), kDamage, "JPEG");
}

// Bytes of a scan that are left before another marker were not decoded; at other places they are
// padding.
TEST(ImageDamageTest, TakesNothingForPaddingInTheMiddleOfAJpeg) {
  const std::string jpeg = EncodeJpeg(Ramp(1, 17, 19), {.progressive = true});
  const auto whole = Values(jpeg);
  EXPECT_EQ(Values(WithSegments(jpeg, JpegSegment(0xfe, "x") + "abc")), whole);
  EXPECT_EQ(Values(jpeg.substr(0, jpeg.size() - 2) + "abc\xff\xd9"), whole);
  const size_t next = jpeg.find("\xff\xc4", jpeg.find("\xff\xda"));
  ASSERT_NE(next, std::string::npos);
  // libjpeg has already read some more bytes, with any content.
  ExpectError(std::string(jpeg).insert(next, std::string(40, 'a')), kDamage, "extraneous bytes");
  const std::string cmyk = CmykJpeg(1, 2, 3, 4);
  ExpectError(With(cmyk, cmyk.find("Adobe") + 11, "\7"), kDamage, "Adobe");
}

TEST(ImageDamageTest, FindsTheOrientationBehindOtherSegments) {
  const std::string jpeg = EncodeJpeg(Ramp(1, 8, 16));
  const std::string turned = WithOrientation(jpeg, 6);
  const std::string others = JpegSegment(0xe1, "") + JpegSegment(0xe1, "http://ns.adobe.com/") +
                             JpegSegment(0xfe, "\xff\xe1") + JpegSegment(0xe2, "\xff\xda\xff\xd9");
  EXPECT_EQ(DecodeImage(WithSegments(turned, others)).shape(), (Shape{1, 16, 8}));
  EXPECT_EQ(DecodeImage(WithSegments(jpeg, others)).shape(), (Shape{1, 8, 16}));
}

// ---- PNG

std::string PaletteChunk() { return PngChunk("PLTE", "\xff\0\0\0\xff\0"s); }
std::string TwoColors(std::string_view rows) { return PngChunk("IDAT", Deflate(rows)); }

TEST(ImageDamageTest, ChecksTheChecksumOfEveryChunkOfAPng) {
  const std::vector<std::string> chunks = {PngChunk("IHDR", PngHeader(2, 2, 8, 3)),
                                           PngChunk("gAMA", Big(45455, 4)),
                                           PngChunk("tEXt", "Title\0x"s),
                                           PaletteChunk(),
                                           PngChunk("tRNS", "\0\x80"s),
                                           PngChunk("prVt", "who knows"),
                                           TwoColors("\0\0\1\0\1\0"s),
                                           PngChunk("tIME", "\x07\xe8\1\1\1\1\1"s)};
  EXPECT_THAT(Values(PngOf(chunks)),
              ElementsAre(255, 0, 0, 255, 0, 255, 255, 0, 0, 0, 0, 0, 0, 128, 128, 0));
  for (size_t i = 0; i < chunks.size(); ++i) {
    auto damaged = chunks;
    damaged[i].back() = static_cast<char>(damaged[i].back() ^ 1);
    ExpectError(PngOf(damaged), kDamage, i == 0 ? "IHDR" : "CRC");
  }
  std::string end = PngOf(chunks);
  end.back() = static_cast<char>(end.back() ^ 1);
  ExpectError(end, kDamage, "CRC");
}

TEST(ImageDamageTest, MendsNothingOfAPng) {
  const std::string header = PngChunk("IHDR", PngHeader(2, 1, 8, 3));
  const auto png = [&](const std::vector<std::string>& rest) {
    std::vector<std::string> chunks = {header};
    chunks.insert(chunks.end(), rest.begin(), rest.end());
    return PngOf(chunks);
  };
  EXPECT_THAT(Values(png({PaletteChunk(), TwoColors("\0\0\1"s)})),
              ElementsAre(255, 0, 0, 255, 0, 0));
  ExpectError(png({PaletteChunk(), TwoColors("\0\0\2"s)}), kDamage, "palette");
  ExpectError(png({PaletteChunk(), TwoColors("\0\0\1\0"s)}), kDamage, "Too much image data");
  ExpectError(png({PaletteChunk(), TwoColors("\0\0"s)}), kDamage, "PNG");
  std::string adler = Deflate("\0\0\1"s);
  adler.back() = static_cast<char>(adler.back() ^ 1);
  ExpectError(png({PaletteChunk(), PngChunk("IDAT", adler)}), kDamage, "PNG");
  const std::string trns = PngChunk("tRNS", "\x80"s);
  ExpectError(png({PaletteChunk(), trns, trns, TwoColors("\0\0\1"s)}), kDamage, "tRNS");
  ExpectError(png({trns, PaletteChunk(), TwoColors("\0\0\1"s)}), kDamage, "tRNS");
  ExpectError(png({PaletteChunk(), TwoColors("\0\0\1"s), trns}), kDamage, "tRNS");
  ExpectError(png({PaletteChunk(), PngChunk("tRNS", "\1\1\1"s), TwoColors("\0\0\1"s)}), kDamage,
              "tRNS");
  // A chunk that must be understood; a grey image's palette need not.
  ExpectError(png({PngChunk("CgBI", "\0\0"s), PaletteChunk(), TwoColors("\0\0\1"s)}), kUnread,
              "CgBI");
  EXPECT_THAT(Values(PngOf(
                  {PngChunk("IHDR", PngHeader(2, 1, 8, 0)), PaletteChunk(), TwoColors("\0\5\7"s)})),
              ElementsAre(5, 7));
  ExpectError(PngOf({PngChunk("IHDR", PngHeader(2, 1, 7, 0)), TwoColors("\0\5\7"s)}), kDamage,
              "bit depth");
  ExpectError(PngOf({PngChunk("IHDR", PngHeader(1 << 20, 1 << 20, 8, 0)), TwoColors("\0"s)}),
              kLimit, "allowed");
}

TEST(ImageDamageTest, PacksPalettesOfPngAsTheyCome) {
  for (const int bits : {1, 2, 4}) {
    const char byte = bits == 1 ? '\x50' : bits == 2 ? '\x11' : '\x01';
    const std::string rows = "\0"s + byte + (bits == 4 ? "\x01"s : ""s);
    EXPECT_THAT(
        Values(PngOf({PngChunk("IHDR", PngHeader(4, 1, bits, 3)), PaletteChunk(), TwoColors(rows)}),
               {.color = ImageColor::kRgb}),
        ElementsAre(255, 0, 255, 0, 0, 255, 0, 255, 0, 0, 0, 0))
        << bits;
  }
}

// ---- GIF

TEST(ImageDamageTest, InventsNoPixelsOfAGif) {
  const auto gif = [](const std::vector<GifCode>& codes) { return GifOf(3, 1, codes); };
  // 4 clears the table, 5 is the end.
  const auto red_green_blue = ElementsAre(255, 0, 0, 0, 255, 0, 0, 0, 255);
  EXPECT_THAT(Values(gif({{4, 3}, {1, 3}, {2, 3}, {3, 3}, {5, 4}})), red_green_blue);
  EXPECT_THAT(Values(gif({{1, 3}, {2, 3}, {3, 3}, {5, 4}})), red_green_blue);
  EXPECT_THAT(Values(gif({{4, 3}, {1, 3}, {2, 3}, {3, 3}})), red_green_blue);
  EXPECT_THAT(Values(gif({{4, 3}, {1, 3}, {4, 3}, {2, 3}, {3, 3}, {4, 3}, {5, 3}})),
              red_green_blue);
  // 6 is the string that begins with the code before it: here of itself.
  EXPECT_THAT(Values(gif({{4, 3}, {1, 3}, {6, 3}, {5, 4}})),
              ElementsAre(255, 255, 255, 0, 0, 0, 0, 0, 0));
  const std::string no_code = "a code that its table does not have";
  ExpectError(gif({{4, 3}, {1, 3}, {7, 3}, {5, 4}}), kDamage, no_code);
  ExpectError(gif({{4, 3}, {6, 3}, {1, 3}, {1, 3}, {5, 4}}), kDamage, no_code);
  ExpectError(gif({{4, 3}, {1, 3}, {6, 3}, {4, 3}, {6, 3}}), kDamage, no_code);
  ExpectError(gif({{4, 3}, {1, 3}, {2, 3}, {5, 3}}), kDamage, "fewer pixels");
  ExpectError(gif({{4, 3}, {1, 3}, {2, 3}}), kDamage, "pixels than the image");
  ExpectError(gif({{4, 3}, {1, 3}, {2, 3}, {3, 3}, {3, 4}, {5, 4}}), kDamage, "more pixels");
  ExpectError(gif({{4, 3}, {1, 3}, {2, 3}, {6, 3}, {5, 4}}), kDamage, "more pixels");
  ExpectError(
      "GIF89a\3\0\1\0\x81\0\0\0\0\0\xff\0\0\0\xff\0\0\0\xff,\0\0\0\0\3\0\1\0\0\2\2\xcc\x0b\0;"s,
      kDamage, no_code);
}

TEST(ImageDamageTest, ReadsGifDataInPiecesAndToTheirEnd) {
  const std::vector<GifCode> codes = {{4, 3}, {1, 3}, {2, 3}, {3, 3}, {5, 4}};
  EXPECT_EQ(Values(GifOf(3, 1, codes, "", 1)), Values(GifOf(3, 1, codes)));
  const std::string gif = GifOf(3, 1, codes);
  EXPECT_EQ(Values(gif.substr(0, gif.size() - 1)), Values(gif));  // the end mark
  ExpectError(gif.substr(0, gif.size() - 2), kDamage, "the file ends early");
  ExpectError(With(gif, gif.find(",\0"s) + 10, "\x09"), kDamage, "codes");
  ExpectError(With(gif, gif.find(",\0"s) + 10, "\0"s), kDamage, "codes");
  const std::string control = "!\xf9\4\1\0\0\2\0"s, wide = "!\xf9\5\1\0\0\2\0\0"s;
  EXPECT_EQ(Values(GifOf(3, 1, codes, control)).size(), 12u);
  ExpectError(GifOf(3, 1, codes, wide), kDamage, "graphic control");
  ExpectError(With(gif, 6, "\xff\xff\xff\xff"), kLimit, "allowed");
  ExpectError(With(gif, 10, "\1"s).erase(13, 12), kUnread, "without a table of colours");
}

// The table is full long before the end, and stays as it is.
TEST(ImageDamageTest, KeepsAFullTableOfAGif) {
  const std::string gif = Gif(300, 200, 256, false);
  const absl::StatusOr<Tensor> image = TryParseImage(gif, "x");
  ASSERT_TRUE(image.ok()) << image.status();
  const auto v = image->ToVector<int64_t>();
  for (size_t i = 0; i < 60000; ++i) ASSERT_EQ(v[i], static_cast<int64_t>(i % 256)) << i;
  std::vector<GifCode> codes = {{4, 3}};
  unsigned bits = 3;
  for (unsigned i = 0; i < 6000; ++i) {  // as an encoder that never clears
    codes.push_back({i % 4, bits});
    if (i > 0 && i + 6 == 1u << bits && bits < 12) ++bits;
  }
  const auto flat = Values(GifOf(6000, 1, codes), {.color = ImageColor::kRgb});
  for (size_t i = 0; i < 6000; ++i) ASSERT_EQ(flat[i], i % 4 == 1 ? 255 : 0) << i;
}

// ---- BMP and PNM

TEST(ImageDamageTest, NamesTheKindsOfBmp) {
  const auto bmp = [](int bits, int compression, int header = 40) {
    std::string s = Bmp(5, 4, 8);
    s[28] = static_cast<char>(bits);
    s[30] = static_cast<char>(compression);
    s[14] = static_cast<char>(header);
    return s;
  };
  ExpectError(bmp(2, 0), kUnread, "BMP: 2 bits a pixel");
  ExpectError(bmp(64, 0), kUnread, "64 bits");
  ExpectError(bmp(0, 4), kUnread, "a JPEG within");
  ExpectError(bmp(0, 5), kUnread, "a PNG within");
  ExpectError(bmp(8, 11), kUnread, "CMYK");
  ExpectError(bmp(1, 3, 64), kUnread, "Huffman");
  ExpectError(bmp(24, 4, 64), kUnread, "runs of 24 bits");
  ExpectError(bmp(8, 0, 16), kUnread, "header of 16 bytes");
  ExpectError(bmp(5, 0), kDamage, "got 5 and 0");
  ExpectError(bmp(4, 1), kDamage, "got 4 and 1");
  ExpectError(bmp(8, 99), kDamage, "got 8 and 99");
  ExpectError(bmp(8, 0, 13), kDamage, "size of the header");
  ExpectError(With(bmp(8, 0), 26, "\2"), kDamage, "planes");
  ExpectError(bmp(8, 0), kLimit, "allowed", {.limits = {.max_pixels = 3}});
  const auto masks = [](uint32_t r, uint32_t g, uint32_t b) {
    std::string s = Bmp(1, 1, 24).substr(0, 54);
    s[28] = 16;
    s[30] = 3;
    s[10] = 66;
    return s + Little(r, 4) + Little(g, 4) + Little(b, 4) + Little(0x8410, 4);
  };
  EXPECT_THAT(Values(masks(0xf800, 0x7e0, 0x1f)), ElementsAre(132, 130, 132));
  ExpectError(masks(0xf800, 0xfe0, 0x1f), kDamage, "masks");
  ExpectError(masks(0xf800, 0, 0x1f), kDamage, "masks");
}

TEST(ImageDamageTest, NamesTheKindsOfPnm) {
  ExpectError("P7\nWIDTH 1\n", kUnread, "PAM");
  ExpectError("Pf\n1 1\n-1.0\n", kUnread, "PFM");
  ExpectError("PF\n1 1\n-1.0\n", kUnread, "PFM");
  ExpectError("P2 1 1 70000 1", kDamage, "at most 65535");
  ExpectError("P5 1 1 255xa", kDamage, "white space");
  ExpectError("P2 2 1 255 1 2:", kDamage, "white space");
  EXPECT_THAT(Values("P5 1 1 255# a comment\na"), ElementsAre('a'));
  ExpectError("P5 1 1 255# a comment", kDamage, "the file ends early");
  ExpectError("P5 1 1 255# a comment\n", kDamage, "the file ends early");
  ExpectError("P5 2 1 255\nab", kLimit, "allowed", {.limits = {.max_pixels = 1}});
}

TEST(ImageDamageTest, NamesFormatsThatAreNotRead) {
  ExpectError("RIFF\x24\0\0\0WEBPVP8 "s, kUnread, "WebP is not supported");
  ExpectError(
      "\0\0\0\x1c"
      "ftypavif"s,
      kUnread, "AVIF");
  ExpectError(
      "\0\0\0\x1c"
      "ftypheic"s,
      kUnread, "HEIF");
  ExpectError("\0\0\0\x0cjP  \r\n\x87\n"s, kUnread, "JPEG 2000");
  ExpectError("\xff\x4f\xff\x51\0"s, kUnread, "JPEG 2000");
  ExpectError("\0\0\1\0\1\0"s, kUnread, "ICO");
  ExpectError("\0\0\2\0\1\0"s, kUnread, "CUR");
  ExpectError("\0\0\2\0\0\0\0\0\0\0\0\0\4\0\4\0"s, kUnread, "TGA");
  ExpectError("\0\0\x0a\0\0\0\0\0\0\0\0\0\4\0\4\0"s, kUnread, "TGA");
  ExpectError("\x0a\5\1\x08"s, kUnread, "PCX");
  ExpectError("II\xbc\1"s, kUnread, "JPEG XR");
  ExpectError(std::string(128, '\0') + "DICM", kUnread, "DICOM");
  ExpectError("icns\0\0\4\0"s, kUnread, "ICNS");
  ExpectError("\0\0\0\x18"s + "ftypmp42", kUnread, "video");
  ExpectError("MM\0+\0\x08"s, kUnread, "BigTIFF");
  ExpectError("RIFF\x24\0\0\0WAVEfmt "s, kDamage, "signature");
  ExpectError("GIF88a\3\0\1\0", kDamage, "signature");
}

}  // namespace
}  // namespace firn::io

// Damage, kinds that are not read, and limits of TIFF, whose library mends much in silence.
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

// ---- TIFF

TEST(TiffDamageTest, ReadsSamplesOfTiffOfEveryOrganisation) {
  const std::string wide = Little(1, 2) + Little(2, 2) + Little(0x300, 2) + Little(0xffff, 2);
  const DecodeImageOptions keep = {.keep_16_bits = true};
  // Planes: two samples of two pixels.
  EXPECT_THAT(
      Values(TiffOf(TiffTags(2, 1, 16, 2, 1, 8,
                             {{273, 4, {8, 12}}, {279, 4, {4, 4}}, {284, 3, {2}}, {338, 3, {2}}}),
                    wide),
             keep),
      ElementsAre(1, 2, 0x300, 0xffff));
  EXPECT_THAT(Values(TiffOf(TiffTags(2, 1, 16, 2, 1, 8, {{338, 3, {2}}}), wide), keep),
              ElementsAre(1, 0x300, 2, 0xffff));
  EXPECT_THAT(Values(TiffOf(TiffTags(4, 1, 16, 1, 0, 8),
                            Big(1, 2) + Big(2, 2) + Big(3, 2) + Big(4, 2), true),
                     keep),
              ElementsAre(65534, 65533, 65532, 65531));
  // An uncompressed tile of 256 bytes, and one of 1024 with 16 bits; the image is smaller.
  std::string bytes, words;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (int i = 0; i < 256; ++i) words += Little(static_cast<uint64_t>(i * 3), 2);
  const auto tile = [](uint32_t bits, uint32_t n) {
    auto tags = TiffTags(3, 2, bits, 1, 1, n,
                         {{322, 3, {16}}, {323, 3, {16}}, {324, 4, {8}}, {325, 4, {n}}});
    std::erase_if(tags,
                  [](const TiffTag& t) { return t.tag == 273 || t.tag == 278 || t.tag == 279; });
    return tags;
  };
  EXPECT_THAT(Values(TiffOf(tile(8, 256), bytes)), ElementsAre(0, 1, 2, 16, 17, 18));
  EXPECT_THAT(Values(TiffOf(tile(16, 512), words), keep), ElementsAre(0, 3, 6, 48, 51, 54));
  // Fewer than 8 bits, a palette, inks.
  EXPECT_THAT(Values(TiffOf(TiffTags(3, 1, 2, 1, 1, 1), "\x1b")), ElementsAre(0, 85, 170));
  EXPECT_THAT(Values(TiffOf(TiffTags(3, 1, 1, 1, 0, 1), "\xa0")), ElementsAre(0, 255, 0));
  EXPECT_THAT(Values(TiffOf(TiffTags(2, 1, 1, 1, 3, 1,
                                     {{320, 3, {0x100, 0x200, 0x300, 0x400, 0x500, 0xffff}}}),
                            "\x40")),
              ElementsAre(1, 2, 3, 4, 5, 255));
  EXPECT_THAT(Values(TiffOf(TiffTags(2, 1, 8, 4, 5, 8), "\x9b\xff\x37\0\0\0\xff\x0a"s)),
              ElementsAre(100, 245, 0, 245, 200, 0));
  EXPECT_THAT(
      Values(TiffOf(TiffTags(2, 1, 8, 4, 5, 8,
                             {{273, 4, {8, 10, 12, 14}}, {279, 4, {2, 2, 2, 2}}, {284, 3, {2}}}),
                    "\x9b\0\xff\0\x37\xff\0\x0a"s)),
      ElementsAre(100, 245, 0, 245, 200, 0));
  // Numbers whose format is not said are without a sign.
  EXPECT_THAT(Values(TiffOf(TiffTags(2, 1, 8, 1, 1, 2, {{339, 3, {4}}}), "\x07\xff")),
              ElementsAre(7, 255));
  EXPECT_THAT(Values(TiffOf(TiffTags(2, 1, 8, 1, 1, 2, {{32996, 3, {0}}}), "\x07\xff")),
              ElementsAre(7, 255));
}

TEST(TiffDamageTest, NamesTheKindsOfTiffThatAreNotRead) {
  const std::string data(64, '\1');
  const auto tiff = [&](uint32_t bits, uint32_t samples, uint32_t photometric,
                        const std::vector<TiffTag>& more = {}) {
    return TiffOf(TiffTags(2, 1, bits, samples, photometric, 2 * bits * samples / 8, more), data);
  };
  ExpectError(tiff(16, 1, 1, {{339, 3, {2}}}), kUnread, "integers with a sign");
  ExpectError(tiff(32, 1, 1, {{339, 3, {3}}}), kUnread, "floats");
  ExpectError(tiff(8, 1, 1, {{339, 3, {9}}}), kDamage, "sample format 9");
  ExpectError(tiff(8, 1, 1, {{32996, 3, {1}}}), kUnread, "SGI");
  ExpectError(tiff(12, 1, 1), kUnread, "12 bits");
  ExpectError(tiff(32, 1, 1), kUnread, "32 bits");
  ExpectError(tiff(8, 3, 2, {{258, 3, {8, 8, 16}}}), kUnread, "differ among the samples");
  for (const uint32_t compression : {6, 34712, 34925, 50000, 50001, 34676, 9, 99}) {
    ExpectError(tiff(8, 1, 1, {{259, 3, {compression}}}), kUnread,
                "compression " + std::to_string(compression));
  }
  for (const uint32_t photometric : {4, 9, 10, 32803, 34892, 32844, 32845}) {
    ExpectError(tiff(8, 1, photometric), kUnread,
                "photometric interpretation " + std::to_string(photometric));
  }
  ExpectError(tiff(16, 4, 5), kUnread, "inks of 16 bits");
  ExpectError(tiff(8, 4, 5, {{332, 3, {2}}}), kUnread, "set 2");
  const std::string packed = Deflate("\1\2\3\4");
  ExpectError(TiffOf(TiffTags(2, 1, 16, 1, 1, static_cast<uint32_t>(packed.size()),
                              {{259, 3, {8}}, {317, 3, {3}}}),
                     packed),
              kUnread, "predictor 3 of 16 bits");
  ExpectError(tiff(16, 3, 8), kUnread, "keeping the 16 bits", {.keep_16_bits = true});
  for (const uint32_t photometric : {6, 8}) {
    ExpectError(tiff(8, 4, photometric, {{338, 3, {2}}, {530, 3, {1, 1}}}), kUnread, "with alpha");
  }
  // Planes of which those of halved chroma have fewer bytes, as they may.
  const std::string light = Deflate("\1\2"), chroma = Deflate("\1");
  const auto n = static_cast<uint32_t>(light.size()), few = static_cast<uint32_t>(chroma.size());
  ExpectError(TiffOf(TiffTags(2, 1, 8, 3, 6, n,
                              {{259, 3, {8}},
                               {273, 4, {8, 8 + n, 8 + n + few}},
                               {279, 4, {n, few, few}},
                               {284, 3, {2}},
                               {530, 3, {2, 1}}}),
                     light + chroma + chroma),
              kUnread, "can not handle image");
  ExpectError(With(tiff(8, 1, 1), 2, "+"), kUnread, "BigTIFF");
  ExpectError(tiff(8, 1, 1, {{256, 4, {1u << 30}}}), kLimit, "allowed");
}

// Bands without a stated meaning do not become alpha; a caller can ask for the colours alone.
TEST(TiffDamageTest, GivesUnknownBandsOfTiffNoMeaning) {
  const auto tiff = [](uint32_t samples, uint32_t photometric, const std::vector<TiffTag>& more) {
    return TiffOf(TiffTags(1, 1, 8, samples, photometric, samples, more), "\x0a\x14\x1e\x28\x32");
  };
  const std::string bands = tiff(5, 1, {{338, 3, {0, 0, 0, 0}}});
  ExpectError(bands, kUnread, "5 samples a pixel, of which 4 are neither colours nor alpha");
  EXPECT_THAT(Values(bands, {.color = ImageColor::kGrey}), ElementsAre(10));
  const std::string near_red = tiff(4, 2, {{338, 3, {0}}});
  ExpectError(near_red, kUnread, "of which 1");
  EXPECT_THAT(Values(near_red, {.color = ImageColor::kRgb}), ElementsAre(10, 20, 30));
  EXPECT_THAT(Values(near_red, {.color = ImageColor::kRgba}), ElementsAre(10, 20, 30, 255));
  ExpectError(tiff(4, 2, {}), kUnread, "of which 1");
  ExpectError(tiff(2, 1, {{338, 3, {0}}}), kUnread, "of which 1");
  EXPECT_THAT(Values(tiff(4, 2, {{338, 3, {2}}})), ElementsAre(10, 20, 30, 40));
  const std::string alpha_and_more = tiff(5, 2, {{338, 3, {2, 0}}});
  ExpectError(alpha_and_more, kUnread, "of which 1");
  EXPECT_THAT(Values(alpha_and_more, {.color = ImageColor::kRgba}), ElementsAre(10, 20, 30, 40));
  ExpectError(tiff(5, 2, {{338, 3, {0, 2}}}), kUnread, "of which", {.color = ImageColor::kRgba});
  // 245, 235 and 225 times (255 - 40) / 255 of black, rounded to the nearest.
  const std::string fifth_ink = tiff(5, 5, {{338, 3, {0}}});
  ExpectError(fifth_ink, kUnread, "of which 1 are neither colours nor alpha (color = kRgb");
  EXPECT_THAT(Values(fifth_ink, {.color = ImageColor::kRgb}), ElementsAre(207, 198, 190));
  EXPECT_THAT(Values(fifth_ink, {.color = ImageColor::kRgba}), ElementsAre(207, 198, 190, 255));
  // The library always gives all samples of an image that it converts, so asking for fewer does not
  // help.
  ExpectError(tiff(5, 6, {{338, 3, {0, 0}}}), kUnread, "neither colours nor alpha is not supported",
              {.color = ImageColor::kRgb});
}

TEST(TiffDamageTest, PassesOverTheTagsOfOtherCodecs) {
  const std::vector<TiffTag> foreign = {{292, 4, {2}}, {293, 4, {2}}, {317, 3, {2}}, {347, 7, {1}}};
  const auto tiff = [](uint32_t bits, uint32_t compression, const std::string& data,
                       const TiffTag& tag) {
    return TiffOf(TiffTags(8, 1, bits, 1, 0, static_cast<uint32_t>(data.size()),
                           {{259, 3, {compression}}, tag}),
                  data);
  };
  for (const TiffTag& tag : foreign) {
    SCOPED_TRACE(tag.tag);
    EXPECT_EQ(Values(tiff(8, 32773, "\xf9\1", tag)), std::vector<int64_t>(8, 254));
    EXPECT_EQ(Values(tiff(1, 2, "\x98", tag)), std::vector<int64_t>(8, 255));
    if (tag.tag != 292) {
      EXPECT_EQ(Values(tiff(1, 3, "\0\x19\x80"s, tag)), std::vector<int64_t>(8, 255));
    }
    if (tag.tag != 293) {
      EXPECT_EQ(Values(tiff(1, 4, "\xff", tag)), std::vector<int64_t>(8, 255));
    }
  }
  ExpectError(tiff(1, 3, "\0\x19\x80"s, foreign[0]), kUnread, "not compressed");
  ExpectError(tiff(1, 4, "\xff", foreign[1]), kUnread, "not compressed");
}

TEST(TiffDamageTest, ChecksTheDirectoryOfATiff) {
  const std::string data(64, '\1');
  const auto tiff = [&](const std::vector<TiffTag>& more) {
    return TiffOf(TiffTags(2, 2, 8, 1, 1, 4, more), data);
  };
  EXPECT_EQ(Values(tiff({})), std::vector<int64_t>(4, 1));
  // Tags that say nothing of the pixels may hold anything, in any order.
  EXPECT_EQ(Values(tiff({{305, 9, {1}}, {282, 3, {}}, {700, 77, {1, 2}}, {60000, 4, {1}}})),
            std::vector<int64_t>(4, 1));
  auto turned = TiffTags(2, 2, 8, 1, 1, 4);
  std::swap(turned.front(), turned.back());
  EXPECT_EQ(Values(TiffOf(turned, data)), std::vector<int64_t>(4, 1));
  auto twice = TiffTags(2, 2, 8, 1, 1, 4);
  twice.push_back({277, 3, {1}});
  ExpectError(TiffOf(twice, data), kDamage, "tag 277: is there twice");
  for (const int tag : {256, 257, 262, 273}) {
    auto without = TiffTags(2, 2, 8, 1, 1, 4);
    std::erase_if(without, [&](const TiffTag& t) { return t.tag == tag; });
    ExpectError(TiffOf(without, data), kDamage, "tag " + std::to_string(tag));
  }
  ExpectError(tiff({{273, 4, {8, 10}}}), kDamage, "tag 273");
  ExpectError(tiff({{279, 4, {3}}}), kDamage, "it ends early");
  ExpectError(tiff({{279, 4, {4000}}}), kDamage, "the file ends early");
  ExpectError(tiff({{278, 4, {0}}}), kDamage, "tag 278");
  ExpectError(tiff({{256, 5, {2}}}), kDamage, "got type 5");
  ExpectError(tiff({{284, 3, {7}}}), kDamage, "tag 284");
  ExpectError(tiff({{338, 3, {2}}}), kDamage, "tag 338");
  ExpectError(tiff({{262, 3, {3}}, {320, 3, {1, 2, 3}}}), kDamage, "a palette of 3 numbers");
  ExpectError(tiff({{262, 3, {2}}}), kDamage, "1 samples of 3 colours");
  ExpectError(tiff({{273, 4, {0}}, {279, 4, {0}}}), kUnread, "left out");
  // Many strips of the same bytes.
  const std::vector<uint32_t> same(20000, 8), all(20000, 60000);
  ExpectError(TiffOf(TiffTags(2, 20000, 8, 1, 1, 4, {{273, 4, same}, {279, 4, all}, {278, 4, {1}}}),
                     std::string(60000, 'x')),
              kLimit, "16 times the bytes of the file");
}

TEST(TiffDamageTest, ChecksTheChecksumsOfTiffAndWhatFollows) {
  const auto tiff = [](const std::string& data, uint32_t rows = 2) {
    return TiffOf(TiffTags(2, 2, 8, 1, 1, static_cast<uint32_t>(data.size()),
                           {{259, 3, {8}}, {278, 4, {rows}}}),
                  data);
  };
  EXPECT_THAT(Values(tiff(Deflate("\1\2\3\4"))), ElementsAre(1, 2, 3, 4));
  std::string wrong = Deflate("\1\2\3\4");
  wrong.back() = static_cast<char>(wrong.back() ^ 1);
  ExpectError(tiff(wrong), kDamage, "incorrect data check");
  ExpectError(tiff(Deflate("\1\2\3")), kDamage, "end early");
  ExpectError(tiff(Deflate("\1\2\3\4\5")), kDamage, "longer than its rows");
  const std::string cut = Deflate("\1\2\3\4");
  ExpectError(tiff(cut.substr(0, cut.size() - 1)), kDamage, "end early");
  // The last strip has all rows of a strip: two of three.
  const std::string strip = Deflate("\1\2\3\4");
  const auto n = static_cast<uint32_t>(strip.size());
  EXPECT_THAT(
      Values(TiffOf(TiffTags(2, 3, 8, 1, 1, n,
                             {{259, 3, {8}}, {273, 4, {8, 8}}, {278, 4, {2}}, {279, 4, {n, n}}}),
                    strip)),
      ElementsAre(1, 2, 3, 4, 1, 2));
  // Samples stored as differences.
  EXPECT_THAT(
      Values(
          TiffOf(TiffTags(2, 1, 8, 2, 1, n, {{259, 3, {8}}, {317, 3, {2}}, {338, 3, {2}}}), strip)),
      ElementsAre(1, 4, 2, 6));
  const std::string wide = Deflate(Big(1, 2) + Big(300, 2));
  EXPECT_THAT(Values(TiffOf(TiffTags(2, 1, 16, 1, 1, static_cast<uint32_t>(wide.size()),
                                     {{259, 3, {8}}, {317, 3, {2}}}),
                            wide, true),
                     {.keep_16_bits = true}),
              ElementsAre(1, 301));
}

// libtiff unpacks what it converts itself, and looks at no checksum.
TEST(TiffDamageTest, ChecksTheChecksumsOfTiffThatIsConverted) {
  const auto tiff = [](const std::string& data, const std::vector<TiffTag>& more = {}) {
    std::vector<TiffTag> tags = {{259, 3, {8}}, {530, 3, {1, 1}}};
    tags.insert(tags.end(), more.begin(), more.end());
    return TiffOf(TiffTags(2, 2, 8, 3, 6, static_cast<uint32_t>(data.size()), tags), data);
  };
  const auto check = [&](const std::string& bytes, const std::vector<TiffTag>& more,
                         const std::string& surplus) {
    const std::string packed = Deflate(bytes);
    EXPECT_EQ(Values(tiff(packed, more)), std::vector<int64_t>(12, 128));
    std::string wrong = packed;
    wrong.back() = static_cast<char>(wrong.back() ^ 1);
    ExpectError(tiff(wrong, more), kDamage, "incorrect data check");
    ExpectError(tiff(packed.substr(0, packed.size() - 1), more), kDamage, "end early");
    ExpectError(tiff(Deflate(bytes.substr(1)), more), kDamage, "end early");
    ExpectError(tiff(Deflate(bytes + surplus), more), kDamage, "longer than its rows");
  };
  const std::string grey(12, '\x80');
  check(grey, {}, "\x80");
  check(grey, {{317, 3, {1}}}, "\x80");
  // One chroma for four pixels.
  check(grey.substr(0, 6), {{530, 3, {2, 2}}}, "\x80");
  // Two strips; the last may have the rows of two, or the one that the image has.
  std::string rows[2];
  for (int i = 0; i < 8; ++i) rows[i / 4] += static_cast<char>(10 * i + 10) + "\x80\x80"s;
  const std::string first = Deflate(rows[0]);
  const auto n = static_cast<uint32_t>(first.size());
  const auto strips = [&](const std::string& last) {
    return TiffOf(TiffTags(2, 3, 8, 3, 6, n,
                           {{259, 3, {8}},
                            {273, 4, {8, 8 + n}},
                            {278, 4, {2}},
                            {279, 4, {n, static_cast<uint32_t>(last.size())}},
                            {530, 3, {1, 1}}}),
                  first + last);
  };
  std::string last = Deflate(rows[1].substr(0, 6));
  const auto grey_of_three = ElementsAre(10, 20, 30, 40, 50, 60);
  EXPECT_THAT(Values(strips(last), {.color = ImageColor::kGrey}), grey_of_three);
  EXPECT_THAT(Values(strips(Deflate(rows[1])), {.color = ImageColor::kGrey}), grey_of_three);
  // A block of 12 bytes as they are, of which libdeflate copies all or none.
  const std::string all = Deflate(rows[1]), checksum = all.substr(all.size() - 4);
  EXPECT_THAT(
      Values(strips("\x78\1\1\x0c\0\xf3\xff"s + rows[1] + checksum), {.color = ImageColor::kGrey}),
      grey_of_three);
  last.back() = static_cast<char>(last.back() ^ 1);
  ExpectError(strips(last), kDamage, "strip or tile 1: incorrect data check");
}

// Bytes that one image left in memory do not become pixels of the next one.
TEST(TiffDamageTest, ReadsNoDeflateOfATiffOfWhichABitIsWrong) {
  std::string rows;
  for (int i = 0; i < 72; ++i) rows += static_cast<char>(2 * i + 1);
  const std::string packed = Deflate(rows);
  for (const uint32_t bits : {8, 16}) {
    const std::string tiff = TiffOf(TiffTags(72 * 8 / bits / 2, 2, bits, 1, 1,
                                             static_cast<uint32_t>(packed.size()), {{259, 3, {8}}}),
                                    packed);
    const auto whole = Values(tiff, {.keep_16_bits = true});
    for (size_t bit = 0; bit < packed.size() * 8; ++bit) {
      ASSERT_EQ(Values(tiff, {.keep_16_bits = true}), whole);
      std::string flipped = tiff;
      flipped[8 + bit / 8] = static_cast<char>(flipped[8 + bit / 8] ^ 1 << bit % 8);
      const auto image = TryParseImage(flipped, "x", {.keep_16_bits = true});
      if (image.ok()) {
        EXPECT_EQ(image->ToVector<int64_t>(), whole) << bit;
      }  // a bit that fills up
    }
  }
}

// Faxes of fewer rows than the image, with and without an end mark.
TEST(TiffDamageTest, TakesNoRowsForWhiteThatAFaxDoesNotHave) {
  const auto fax = [](const std::string& data, uint32_t compression, uint32_t rows) {
    return TiffOf(
        TiffTags(8, rows, 1, 1, 0, static_cast<uint32_t>(data.size()), {{259, 3, {compression}}}),
        data);
  };
  // T.6: each row is as the white one before it, a bit; then two marks of 12 bits.
  EXPECT_EQ(Values(fax("\xff", 4, 8)), std::vector<int64_t>(64, 255));
  EXPECT_EQ(Values(fax("\xff\0\x10\x01"s, 4, 8)), std::vector<int64_t>(64, 255));
  for (const uint32_t rows : {9, 10, 20}) {
    ExpectError(fax("\xff\0\x10\x01"s, 4, rows), kDamage, "Premature");
    ExpectError(fax("\xff", 4, rows), kDamage, "Premature");
    ExpectError(fax("\xff\0\0\0\0"s, 4, rows), kDamage, "TIFF");
  }
  ExpectError(fax("\x30\x67\x22\xe4\x7b", 4, 8), kDamage, "Premature");
  // Modified Huffman: white 8 is 10011, each row begins with a byte.
  EXPECT_EQ(Values(fax("\x98\x98", 2, 2)), std::vector<int64_t>(16, 255));
  ExpectError(fax("\x98\x98", 2, 3), kDamage, "TIFF");
  // T.4: a mark before each row.
  EXPECT_EQ(Values(fax("\0\x19\x80\x01\x98"s, 3, 2)), std::vector<int64_t>(16, 255));
  ExpectError(fax("\0\x19\x80\x01\x98"s, 3, 3), kDamage, "TIFF");
}

}  // namespace
}  // namespace firn::io

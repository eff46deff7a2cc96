#include "firn/io/draw/svg.h"

#include <string>

#include "gtest/gtest.h"

namespace firn::io::draw {
namespace {

TEST(XmlTextTest, IsNoMarkupAndValidUtf8) {
  EXPECT_EQ(XmlText("<a b='c' d=\"e\">&\\\n\x01\xff\xc3\xa4"),
            "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\\  \xef\xbf\xbd\xc3\xa4");
  // U+FFFE and U+FFFF are no characters of XML; the last two planes' ones are.
  EXPECT_EQ(XmlText("\xef\xbf\xbe,\xef\xbf\xbf,\xf0\x9f\xbf\xbe,\xef\xbf\xbd"),
            "\xef\xbf\xbd,\xef\xbf\xbd,\xf0\x9f\xbf\xbe,\xef\xbf\xbd");
}

TEST(SvgTest, NumbersHaveNoMoreDigitsThanTheyNeed) {
  EXPECT_EQ(SvgNumber(0), "0");
  EXPECT_EQ(SvgNumber(100), "100");
  EXPECT_EQ(SvgNumber(1.5), "1.5");
  EXPECT_EQ(SvgNumber(-2.25), "-2.25");
  EXPECT_EQ(SvgNumber(0.126), "0.13");
  EXPECT_EQ(SvgNumber(-0.001), "0");
  EXPECT_EQ(SvgPoint({10, 0.5}), "10,0.5");
}

TEST(SvgTest, ElementsHaveEscapedAttributesAndWhatIsInside) {
  EXPECT_EQ(SvgElement("rect", {{"class", "a \"b\""}, {"x", 1}, {"y", 0.25}}),
            "<rect class=\"a &quot;b&quot;\" x=\"1\" y=\"0.25\"/>\n");
  EXPECT_EQ(SvgElement("g", {{"class", ""}}, SvgHint("a < b")), "<g><title>a &lt; b</title></g>\n");
}

TEST(SvgTest, TextStandsWhereItIsPut) {
  EXPECT_EQ(SvgText({1, 2}, "<i>", Align::kRight, {{"font-size", 17}}),
            "<text x=\"1\" y=\"2\" dy=\"0.35em\" text-anchor=\"end\" font-size=\"17\">"
            "&lt;i&gt;</text>\n");
}

TEST(SvgTest, PathsGoOnFromWhereTheyAre) {
  EXPECT_EQ(
      SvgPath().MoveTo({1, 2}).LineTo({3, 4.5}).CurveTo({0, 0}, {1, 1}, {2, 2}).Close().text(),
      "M1,2L3,4.5C0,0 1,1 2,2Z");
}

TEST(SvgTest, APictureHasItsSize) {
  EXPECT_EQ(SvgPicture(20, 10.5, {{"role", "img"}}, SvgElement("g", {})),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 20 10.5\" font-size=\"12\" "
            "role=\"img\">\n<g/>\n</svg>\n");
}

}  // namespace
}  // namespace firn::io::draw

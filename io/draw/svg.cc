// Numbers have at most two digits behind the point and no trailing zeros: this halves the text of
// pictures of many points, and no screen shows more.
#include "firn/io/draw/svg.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "firn/device/escape.h"

namespace firn::io::draw {

// JsonString makes valid UTF-8 of anything, and escapes quotes and backslashes alone once there are
// no control characters. XML 1.0 excludes U+FFFE and U+FFFF, which valid UTF-8 may hold.
std::string XmlText(std::string_view text) {
  std::string plain;
  for (char c : text) plain += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  const std::string json = inner::internal::JsonString(plain);
  std::string valid = json.substr(1, json.size() - 2);
  absl::StrReplaceAll({{"\\\"", "\""},
                       {"\\\\", "\\"},
                       {"\xef\xbf\xbe", "\xef\xbf\xbd"},
                       {"\xef\xbf\xbf", "\xef\xbf\xbd"}},
                      &valid);
  return absl::StrReplaceAll(
      valid, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string SvgNumber(double value) {
  std::string text = absl::StrFormat("%.2f", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string SvgPoint(Point point) {
  return absl::StrCat(SvgNumber(point.x), ",", SvgNumber(point.y));
}

namespace {

void AppendAttributes(SvgAttributes attributes, std::string* svg) {
  for (const SvgAttribute& attribute : attributes) {
    if (attribute.text.empty()) continue;
    absl::StrAppend(svg, " ", attribute.name, "=\"", XmlText(attribute.text), "\"");
  }
}

std::string Around(std::string_view name, SvgAttributes first, SvgAttributes more,
                   std::string_view inside) {
  const std::string called(name);
  std::string svg = "<" + called;
  AppendAttributes(first, &svg);
  AppendAttributes(more, &svg);
  if (inside.empty()) return svg + "/>\n";
  return svg.append(">").append(inside) + "</" + called + ">\n";
}

}  // namespace

std::string SvgElement(std::string_view name, SvgAttributes attributes, std::string_view inside) {
  return Around(name, attributes, {}, inside);
}

std::string SvgText(Point at, std::string_view text, Align align, SvgAttributes more) {
  const char* anchor = align == Align::kLeft ? "start" : align == Align::kCenter ? "middle" : "end";
  return Around("text", {{"x", at.x}, {"y", at.y}, {"dy", "0.35em"}, {"text-anchor", anchor}}, more,
                XmlText(text));
}

std::string SvgHint(std::string_view text) {
  return absl::StrCat("<title>", XmlText(text), "</title>");
}

std::string SvgPicture(double width, double height, SvgAttributes more, std::string_view inside) {
  return Around("svg",
                {{"xmlns", "http://www.w3.org/2000/svg"},
                 {"viewBox", absl::StrCat("0 0 ", SvgNumber(width), " ", SvgNumber(height))},
                 {"font-size", 12}},
                more, std::string("\n").append(inside));
}

SvgPath& SvgPath::Add(char letter, std::initializer_list<Point> points) {
  text_ += letter;
  for (const Point& point : points) {
    absl::StrAppend(&text_, text_.back() == letter ? "" : " ", SvgPoint(point));
  }
  return *this;
}

}  // namespace firn::io::draw

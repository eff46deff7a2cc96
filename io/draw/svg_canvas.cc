#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "firn/device/escape.h"
#include "firn/io/draw/canvas.h"

namespace firn::io::draw {

// JsonString makes valid UTF-8 of anything, and escapes quotes and backslashes alone once there are
// no control characters. Of valid UTF-8, XML 1.0 has no U+FFFE and U+FFFF.
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

namespace {

std::string Hex(const Color& c) { return absl::StrFormat("#%02x%02x%02x", c.red, c.green, c.blue); }

class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(int width, int height) {
    absl::StrAppendFormat(&svg_,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                          "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
                          "<rect class=\"paper\" width=\"100%%\" height=\"100%%\" "
                          "fill=\"#ffffff\"/>\n",
                          width, height, width, height);
  }

  void Line(const std::vector<Point>& points, const Color& color, double width,
            size_t dashes) override {
    std::string dashed;
    for (const double length : kDashes[dashes]) {
      if (length == 0) break;
      absl::StrAppend(&dashed, dashed.empty() ? " stroke-dasharray=\"" : " ", length);
    }
    absl::StrAppendFormat(&svg_,
                          "<polyline class=\"%s\" fill=\"none\" stroke=\"%s\" "
                          "stroke-width=\"%g\" stroke-linejoin=\"round\" "
                          "stroke-linecap=\"round\"%s points=\"",
                          color.role, Hex(color), width, dashed.empty() ? "" : dashed + "\"");
    for (const Point& p : points) absl::StrAppendFormat(&svg_, "%.2f,%.2f ", p.x, p.y);
    // A line of one point is none to browsers; a very short one has round ends.
    if (points.size() == 1) {
      absl::StrAppendFormat(&svg_, "%.2f,%.2f ", points[0].x + 0.01, points[0].y);
    }
    if (!points.empty()) svg_.pop_back();
    svg_ += "\"/>\n";
  }

  void Text(Point at, std::string_view text, Align align, bool upright) override {
    const char* anchor = align == Align::kLeft     ? "start"
                         : align == Align::kCenter ? "middle"
                                                   : "end";
    const std::string turn =
        upright ? absl::StrFormat(" transform=\"rotate(-90 %.2f %.2f)\"", at.x, at.y) : "";
    absl::StrAppendFormat(
        &svg_, "<text x=\"%.2f\" y=\"%.2f\" dy=\"0.35em\" text-anchor=\"%s\"%s>%s</text>\n", at.x,
        at.y, anchor, turn, XmlText(text));
  }

  // A rectangle that is not filled would not notice the pointer.
  void Hint(Point left_top, Point right_bottom, std::string_view text) override {
    absl::StrAppendFormat(&svg_,
                          "<rect class=\"hint\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                          "height=\"%.2f\" fill=\"#000000\" fill-opacity=\"0\">"
                          "<title>%s</title></rect>\n",
                          left_top.x, left_top.y, right_bottom.x - left_top.x,
                          right_bottom.y - left_top.y, XmlText(text));
  }

  std::string Finish() override { return svg_ + "</svg>\n"; }

 private:
  std::string svg_;
};

}  // namespace

std::unique_ptr<Canvas> MakeSvgCanvas(int width, int height) {
  return std::make_unique<SvgCanvas>(width, height);
}

}  // namespace firn::io::draw

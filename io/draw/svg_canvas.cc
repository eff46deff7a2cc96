#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/io/draw/canvas.h"
#include "firn/io/draw/svg.h"

namespace firn::io::draw {
namespace {

std::string Hex(const Color& c) { return absl::StrFormat("#%02x%02x%02x", c.red, c.green, c.blue); }

class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(int width, int height)
      : width_(width),
        height_(height),
        svg_(SvgElement(
            "rect",
            {{"class", "paper"}, {"width", "100%"}, {"height", "100%"}, {"fill", "#ffffff"}})) {}

  void Line(const std::vector<Point>& points, const Color& color, double width,
            size_t dashes) override {
    std::string dashed, along;
    for (const double length : kDashes[dashes]) {
      if (length == 0) break;
      absl::StrAppend(&dashed, dashed.empty() ? "" : " ", SvgNumber(length));
    }
    for (const Point& p : points) absl::StrAppend(&along, along.empty() ? "" : " ", SvgPoint(p));
    // Browsers do not draw a line of one point; a very short line shows as its round ends.
    if (points.size() == 1) {
      absl::StrAppend(&along, " ", SvgPoint({points[0].x + 0.01, points[0].y}));
    }
    svg_ += SvgElement("polyline", {{"class", color.role},
                                    {"fill", "none"},
                                    {"stroke", Hex(color)},
                                    {"stroke-width", width},
                                    {"stroke-linejoin", "round"},
                                    {"stroke-linecap", "round"},
                                    {"stroke-dasharray", dashed},
                                    {"points", along}});
  }

  void Text(Point at, std::string_view text, Align align, bool upright) override {
    const std::string turn =
        upright ? absl::StrCat("rotate(-90 ", SvgNumber(at.x), " ", SvgNumber(at.y), ")") : "";
    svg_ += SvgText(at, text, align, {{"transform", turn}});
  }

  // A rectangle that is not filled would not notice the pointer.
  void Hint(Point left_top, Point right_bottom, std::string_view text) override {
    svg_ += SvgElement("rect",
                       {{"class", "hint"},
                        {"x", left_top.x},
                        {"y", left_top.y},
                        {"width", right_bottom.x - left_top.x},
                        {"height", right_bottom.y - left_top.y},
                        {"fill", "#000000"},
                        {"fill-opacity", 0}},
                       SvgHint(text));
  }

  std::string Finish() override {
    return SvgPicture(width_, height_,
                      {{"width", width_}, {"height", height_}, {"font-family", "sans-serif"}},
                      svg_);
  }

 private:
  const int width_, height_;
  std::string svg_;
};

}  // namespace

std::unique_ptr<Canvas> MakeSvgCanvas(int width, int height) {
  return std::make_unique<SvgCanvas>(width, height);
}

}  // namespace firn::io::draw

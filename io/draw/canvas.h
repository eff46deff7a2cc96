#ifndef FIRN_IO_DRAW_CANVAS_H_
#define FIRN_IO_DRAW_CANVAS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace firn::io::draw {

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
  // The class of the SVG elements that are drawn with the colour, by which a page's style can give
  // them another one. Letters, digits, hyphens and blanks.
  const char* role = "";
};

struct Point {
  double x = 0, y = 0;  // pixels from the left and the top
};

enum class Align { kLeft, kCenter, kRight };

// Lengths of lines and gaps in turns, in pixels; 0 ends them. The first one is solid, the next one
// for validation and the third one for tests; the last three take their places when a palette is
// used up.
inline constexpr double kDashes[6][6] = {{0},           {7, 5, 0},          {1, 5, 0},
                                         {12, 5, 1, 5}, {7, 5, 1, 5, 1, 5}, {1, 5, 1, 10, 0}};

// A surface for lines and text, white at first. Thread-compatible.
class Canvas {
 public:
  virtual ~Canvas() = default;
  // A line through points, `width` pixels wide, solid or with the dashes of this place in kDashes.
  // Parts outside the canvas are not drawn.
  virtual void Line(const std::vector<Point>& points, const Color& color, double width,
                    size_t dashes) = 0;
  void Line(const std::vector<Point>& points, const Color& color, double width) {
    Line(points, color, width, 0);
  }
  // One line of text, its middle at the height of `at`; turned by a quarter to the left when
  // `upright`. Letters are about 7 pixels wide and 10 high.
  virtual void Text(Point at, std::string_view text, Align align, bool upright) = 0;
  // Text that is shown when the pointer is in this rectangle; ignored by pictures of pixels.
  virtual void Hint(Point left_top, Point right_bottom, std::string_view text) {
    (void)left_top, (void)right_bottom, (void)text;
  }
  // The file.
  virtual std::string Finish() = 0;
};

std::unique_ptr<Canvas> MakeSvgCanvas(int width, int height);
std::unique_ptr<Canvas> MakePngCanvas(int width, int height);

}  // namespace firn::io::draw

#endif  // FIRN_IO_DRAW_CANVAS_H_

#ifndef FIRN_IO_MONITORS_INTERNAL_CANVAS_H_
#define FIRN_IO_MONITORS_INTERNAL_CANVAS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace firn::io::internal {

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
};

struct Point {
  double x = 0, y = 0;  // pixels from the left and the top
};

enum class Align { kLeft, kCenter, kRight };

// What lines and text are drawn on, white at first. Thread-compatible.
class Canvas {
 public:
  virtual ~Canvas() = default;
  // A line through points, `width` pixels wide. What lies outside the canvas is not drawn.
  virtual void Line(const std::vector<Point>& points, const Color& color, double width) = 0;
  // One line of text, its middle at the height of `at`; turned by a quarter to the left when
  // `upright`. Letters are about 7 pixels wide and 10 high.
  virtual void Text(Point at, std::string_view text, Align align, bool upright) = 0;
  // The file.
  virtual std::string Finish() = 0;
};

std::unique_ptr<Canvas> MakeSvgCanvas(int width, int height);
std::unique_ptr<Canvas> MakePngCanvas(int width, int height);

}  // namespace firn::io::internal

#endif  // FIRN_IO_MONITORS_INTERNAL_CANVAS_H_

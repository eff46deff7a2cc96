// A line covers a pixel by how near its middle is, which smooths edges. A whole line's cover is
// gathered before it is painted, so that joints are not painted twice. Letters are lines too, and a
// dashed line is a short one for each dash.
#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/types/span.h"
#include "firn/io/draw/canvas.h"
#include "firn/io/draw/stroke_font.h"
#include "firn/io/image/image.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io::draw {
namespace {

// Pixels of one unit of the font, from one letter to the next, and of the pen.
constexpr double kUnitX = 1.25, kUnitY = 1.5, kAdvance = 7.2, kPen = 1.15;
// From the top of capitals to their middle, in units.
constexpr double kMiddle = 3;

double DistanceToSegment(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double t =
      length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// Cuts lines into dashes, which go on around corners. A plain value.
class Dasher {
 public:
  // `lengths` of lines and gaps, as kDashes has them; outlives this.
  explicit Dasher(absl::Span<const double> lengths) : lengths_(lengths) {
    while (count_ < lengths.size() && lengths[count_] > 0) ++count_;
    if (count_ > 0) left_ = lengths_[0];
  }
  // Calls draw(from, to) for each dash of a line. A line far longer than any picture is drawn as a
  // whole: its dashes would be too many.
  template <class F>
  void Walk(Point a, Point b, F draw) {
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    if (count_ == 0 || !(length > 0 && length < kLongest)) return draw(a, b);
    const auto at = [&](double along) -> Point {
      return {a.x + (b.x - a.x) * along / length, a.y + (b.y - a.y) * along / length};
    };
    for (double done = 0; done < length;) {
      const double part = std::min(left_, length - done);
      if (place_ % 2 == 0) draw(at(done), at(done + part));
      done += part;
      left_ -= part;
      if (left_ <= 0) left_ = lengths_[place_ = (place_ + 1) % count_];
    }
  }

 private:
  static constexpr double kLongest = 100'000;
  absl::Span<const double> lengths_;
  size_t count_ = 0, place_ = 0;
  double left_ = 0;  // of the line or gap at place_
};

class PngCanvas final : public Canvas {
 public:
  PngCanvas(int width, int height)
      : width_(width), height_(height), pixels_(Size() * 3, 255), cover_(Size(), 0) {}

  void Line(const std::vector<Point>& points, const Color& color, double width,
            size_t dashes) override {
    Dasher dasher(kDashes[dashes]);
    for (size_t i = 0; i + 1 < points.size(); ++i) {
      dasher.Walk(points[i], points[i + 1], [&](Point a, Point b) { Cover(a, b, width / 2); });
    }
    if (points.size() == 1) Cover(points[0], points[0], width / 2);
    Paint(color);
  }

  void Text(Point at, std::string_view text, Align align, bool upright) override {
    const double length = static_cast<double>(Letters(text)) * kAdvance;
    double along = align == Align::kLeft ? 0 : align == Align::kCenter ? -length / 2 : -length;
    for (char c : text) {
      if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;  // the rest of a character
      Letter(c, along, at, upright);
      along += kAdvance;
    }
    Paint({50, 50, 50});
  }

  std::string Finish() override {
    const Tensor rows = FromVector(std::move(pixels_), {height_, width_, 3});
    return EncodePng(Permute(rows, {2, 0, 1}).Contiguous());
  }

 private:
  size_t Size() const { return static_cast<size_t>(width_) * static_cast<size_t>(height_); }
  size_t Place(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x);
  }
  static int Clamp(double at, int end) {
    return static_cast<int>(std::clamp(std::round(at), 0.0, static_cast<double>(end)));
  }

  static size_t Letters(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }));
  }

  void Letter(char c, double along, Point at, bool upright) {
    const std::string_view strokes = StrokesOf(c);
    Point before;
    bool begins = true;
    for (size_t i = 0; i + 1 < strokes.size();) {
      if (strokes[i] == ' ') {
        begins = true;
        ++i;
        continue;
      }
      const double x = along + 1 + (strokes[i] - '0') * kUnitX;
      const double y = (strokes[i + 1] - '0' - kMiddle) * kUnitY;
      const Point p = upright ? Point{at.x + y, at.y - x} : Point{at.x + x, at.y + y};
      if (!begins) Cover(before, p, kPen / 2);
      before = p;
      begins = false;
      i += 2;
    }
  }

  // Pixels' middles are at halves.
  void Cover(Point a, Point b, double radius) {
    const double reach = radius + 1;
    const int left = Clamp(std::min(a.x, b.x) - reach, width_);
    const int right = Clamp(std::max(a.x, b.x) + reach, width_);
    const int top = Clamp(std::min(a.y, b.y) - reach, height_);
    const int bottom = Clamp(std::max(a.y, b.y) + reach, height_);
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        const double distance = DistanceToSegment({x + 0.5, y + 0.5}, a, b);
        const double covered = std::clamp(radius + 0.5 - distance, 0.0, 1.0);
        uint8_t& cover = cover_[Place(x, y)];
        cover = std::max(cover, static_cast<uint8_t>(covered * 255 + 0.5));
      }
    }
    left_ = std::min(left_, left);
    right_ = std::max(right_, right);
    top_ = std::min(top_, top);
    bottom_ = std::max(bottom_, bottom);
  }

  // Paints the covered pixels with a colour, and clears the cover.
  void Paint(const Color& color) {
    for (int y = top_; y < bottom_; ++y) {
      for (int x = left_; x < right_; ++x) {
        uint8_t& cover = cover_[Place(x, y)];
        if (cover != 0) Blend(Place(x, y), color, cover / 255.0);
        cover = 0;
      }
    }
    left_ = width_;
    top_ = height_;
    right_ = bottom_ = 0;
  }

  void Blend(size_t place, const Color& color, double share) {
    const uint8_t channels[] = {color.red, color.green, color.blue};
    for (size_t c = 0; c < 3; ++c) {
      uint8_t& pixel = pixels_[place * 3 + c];
      const double old = pixel;
      pixel = static_cast<uint8_t>(old + (channels[c] - old) * share + 0.5);
    }
  }

  const int width_, height_;
  std::vector<uint8_t> pixels_;
  std::vector<uint8_t> cover_;
  int left_ = width_, top_ = height_, right_ = 0, bottom_ = 0;  // where there may be cover
};

}  // namespace

std::unique_ptr<Canvas> MakePngCanvas(int width, int height) {
  return std::make_unique<PngCanvas>(width, height);
}

}  // namespace firn::io::draw

#ifndef FIRN_IO_DRAW_SVG_H_
#define FIRN_IO_DRAW_SVG_H_

// SVG as text: elements, numbers and paths. All of Firn's SVG is written by these functions.

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "firn/io/draw/canvas.h"

namespace firn::io::draw {

// Text for XML and HTML, within attributes too: valid UTF-8 without markup; invalid bytes become
// U+FFFD, and control characters blanks.
std::string XmlText(std::string_view text);

// A finite number of pixels, to a hundredth: "12", "0.5", "-3.25".
std::string SvgNumber(double value);
// "12,0.5".
std::string SvgPoint(Point point);

// An attribute of an element: text, which becomes XmlText, or a number of pixels.
struct SvgAttribute {
  SvgAttribute(std::string_view n, std::string_view t) : name(n), text(t) {}
  template <class Number>
  requires std::is_arithmetic_v<Number> SvgAttribute(std::string_view n, Number number)
      : name(n), text(SvgNumber(static_cast<double>(number))) {}

  std::string name, text;
};
using SvgAttributes = std::initializer_list<SvgAttribute>;

// <name a="1">inside</name> and the end of a line; <name a="1"/> around nothing. `inside` is SVG
// already. Attributes without text are left out.
std::string SvgElement(std::string_view name, SvgAttributes attributes,
                       std::string_view inside = "");
// One line of text, its middle at the height of `at`.
std::string SvgText(Point at, std::string_view text, Align align = Align::kLeft,
                    SvgAttributes more = {});
// Text that is shown when the pointer is on the element around it.
std::string SvgHint(std::string_view text);
// The file, or an element of a page, with `inside` in it. Letters are 12 pixels high; `more` are
// attributes beside the size.
std::string SvgPicture(double width, double height, SvgAttributes more, std::string_view inside);

// The data of an element `path`. Thread-compatible.
class SvgPath {
 public:
  SvgPath& MoveTo(Point to) { return Add('M', {to}); }
  SvgPath& LineTo(Point to) { return Add('L', {to}); }
  // A cubic curve that leaves in the direction of `first` and comes from that of `last`.
  SvgPath& CurveTo(Point first, Point last, Point to) { return Add('C', {first, last, to}); }
  SvgPath& Close() { return Add('Z', {}); }
  const std::string& text() const { return text_; }  // the attribute `d`

 private:
  SvgPath& Add(char letter, std::initializer_list<Point> points);
  std::string text_;
};

}  // namespace firn::io::draw

#endif  // FIRN_IO_DRAW_SVG_H_

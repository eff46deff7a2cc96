#ifndef FIRN_IO_DRAW_STROKE_FONT_H_
#define FIRN_IO_DRAW_STROKE_FONT_H_

#include <string_view>

namespace firn::io::draw {

// The letters of ASCII as strokes of a pen. Each is a row of strokes with blanks between them, a
// stroke being points of two digits: x from 0 to 4, and y from 0 (the top of capitals) over 2 (the
// top of small letters) and 6 (the line they stand on) to 8. A point twice is a dot.
// Other characters have the strokes of '?'.
std::string_view StrokesOf(char c);

}  // namespace firn::io::draw

#endif  // FIRN_IO_DRAW_STROKE_FONT_H_

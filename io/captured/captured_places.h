#ifndef FIRN_IO_CAPTURED_CAPTURED_PLACES_H_
#define FIRN_IO_CAPTURED_CAPTURED_PLACES_H_

// Where operations take their elements from, for formats that gather them: lists of places.

#include <cstdint>
#include <vector>

#include "firn/io/captured/captured_call.h"

namespace firn::io::internal {

// Windows of a padded image, as places in its rows behind each other: by the element of the
// window, then by the window.
struct CapturedWindows {
  std::vector<int64_t> from;
  int64_t height = 0, width = 0;  // of the padded image
  std::vector<int64_t> padding;   // on either side: of rows, of columns
};

// For a call of unfold or fold with images of this size: its kernel, dilation, stride and padding.
CapturedWindows WindowsOf(const CapturedCall& call, int64_t height, int64_t width);

// What a call of diagonal reads: its matrices' dimensions behind the others, and places in the rows
// of a matrix behind each other.
struct CapturedDiagonal {
  std::vector<int64_t> order, from;
  int64_t elements = 0;  // of a matrix
};
CapturedDiagonal DiagonalOf(CapturedCall& call);

// For a call of diag_embed: for each element of a matrix, its place in the line. Elements off the
// diagonal get the place behind the line, where a zero is to stand.
std::vector<int64_t> DiagEmbedPlaces(CapturedCall& call);

// For a call of a transposed convolution, by dimension: how much larger the result is than the
// smallest one that gives an input of this size ("output_padding").
std::vector<int64_t> OutputPaddingOf(CapturedCall& call);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CAPTURED_CAPTURED_PLACES_H_

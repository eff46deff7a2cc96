#include "firn/io/captured/captured_places.h"

#include <algorithm>
#include <numeric>

namespace firn::io::internal {

CapturedWindows WindowsOf(const CapturedCall& call, int64_t height, int64_t width) {
  const std::vector<int64_t> kernel = call.Each("kernel", 2), dilation = call.Each("dilation", 2),
                             stride = call.Each("stride", 2);
  CapturedWindows w;
  w.padding = call.Each("padding", 2);
  w.height = height + 2 * w.padding[0];
  w.width = width + 2 * w.padding[1];
  for (int64_t i = 0; i < kernel[0]; ++i) {
    for (int64_t j = 0; j < kernel[1]; ++j) {
      for (int64_t y = i * dilation[0]; y + (kernel[0] - 1 - i) * dilation[0] < w.height;
           y += stride[0]) {
        for (int64_t x = j * dilation[1]; x + (kernel[1] - 1 - j) * dilation[1] < w.width;
             x += stride[1]) {
          w.from.push_back(y * w.width + x);
        }
      }
    }
  }
  return w;
}

CapturedDiagonal DiagonalOf(CapturedCall& call) {
  const int64_t dim1 = call.Dim("dim1", call.rank(0)), dim2 = call.Dim("dim2", call.rank(0));
  const int64_t rows = call.size(0, dim1), columns = call.size(0, dim2);
  const int64_t offset = call.Int("offset");
  CapturedDiagonal d;
  d.elements = rows * columns;
  d.order.resize(static_cast<size_t>(call.rank(0)));
  std::iota(d.order.begin(), d.order.end(), 0);
  std::erase_if(d.order, [&](int64_t dim) { return dim == dim1 || dim == dim2; });
  d.order.insert(d.order.end(), {dim1, dim2});
  for (int64_t i = 0; i < rows; ++i) {
    if (i + offset >= 0 && i + offset < columns) d.from.push_back(i * columns + i + offset);
  }
  return d;
}

std::vector<int64_t> DiagEmbedPlaces(CapturedCall& call) {
  const auto rank = static_cast<size_t>(call.rank(0));
  const int64_t size = call.size(0, -1), offset = call.Int("offset");
  const std::vector<int64_t> matrix =
      call.Fixed({call.out_sizes(0)[rank - 1], call.out_sizes(0)[rank]});
  const int64_t rows = matrix[0], columns = matrix[1];
  std::vector<int64_t> from(static_cast<size_t>(rows * columns), size);
  for (int64_t k = 0; k < size; ++k) {
    const int64_t row = k + std::max<int64_t>(-offset, 0),
                  column = k + std::max<int64_t>(offset, 0);
    if (row < rows && column < columns) from[static_cast<size_t>(row * columns + column)] = k;
  }
  return from;
}

std::vector<int64_t> OutputPaddingOf(CapturedCall& call) {
  const auto dims = static_cast<size_t>(call.rank(0)) - 2;
  const std::vector<int64_t> stride = call.Each("stride", dims),
                             padding = call.Each("padding", dims),
                             dilation = call.Each("dilation", dims);
  std::vector<int64_t> more;
  for (size_t i = 0; i < dims; ++i) {
    const auto at = static_cast<int64_t>(i) + 2;
    const int64_t least = (call.size(0, at) - 1) * stride[i] - 2 * padding[i] +
                          dilation[i] * (call.size(1, at) - 1) + 1;
    more.push_back(call.Fixed({call.out_sizes(0)[i + 2]})[0] - least);
  }
  return more;
}

}  // namespace firn::io::internal

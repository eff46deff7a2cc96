// Sides are rounded as Python's round does, halves to even numbers.
#include "firn/io/data/transforms/internal/place.h"

#include <cmath>

#include "firn/io/data/transforms/internal/draw.h"

namespace firn::io::internal {

std::optional<Region> DrawPart(RandomGenerator& random, int64_t height, int64_t width,
                               const PartDraw& draw) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  const Interval logarithms = {std::log(draw.ratio.low), std::log(draw.ratio.high)};
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double part = area * Uniform(random, draw.scale);
    const double ratio = std::exp(Uniform(random, logarithms));
    const double w = std::nearbyint(std::sqrt(draw.tall ? part / ratio : part * ratio));
    const double h = std::nearbyint(std::sqrt(draw.tall ? part * ratio : part / ratio));
    const double slack = draw.whole ? 0 : 1;
    if (w < 1 || h < 1 || w > static_cast<double>(width) - slack ||
        h > static_cast<double>(height) - slack) {
      continue;
    }
    const auto rows = static_cast<int64_t>(h), columns = static_cast<int64_t>(w);
    const int64_t top = Below(random, height - rows + 1);
    const int64_t left = Below(random, width - columns + 1);
    return Region{top, left, rows, columns};
  }
  return std::nullopt;
}

}  // namespace firn::io::internal

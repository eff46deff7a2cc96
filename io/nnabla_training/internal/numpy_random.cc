#include "firn/io/nnabla_training/internal/numpy_random.h"

#include <cmath>
#include <utility>

namespace firn::io::internal {

double NumpyRandom::Uniform() {
  const auto high = static_cast<double>(words_() >> 5);  // 27 bits
  const auto low = static_cast<double>(words_() >> 6);   // 26 bits
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

double NumpyRandom::Normal() {
  if (std::exchange(has_next_, false)) return next_;
  double x = 0, y = 0, square = 0;
  do {
    x = 2 * Uniform() - 1;
    y = 2 * Uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  next_ = factor * x;
  has_next_ = true;
  return factor * y;
}

}  // namespace firn::io::internal

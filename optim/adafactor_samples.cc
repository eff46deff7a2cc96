#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "firn/optim/adafactor.h"
#include "firn/optim/option_samples.h"

namespace firn::testing {
namespace {

using namespace optim;  // NOLINT: the options of one page

// The sum of a function over all elements.
template <class F>
double SumOf(const Moved::Matrix& m, F f) {
  double sum = 0;
  for (const double v : m) sum += f(v);
  return sum;
}

void AdafactorStep(const AdafactorOptions& o, double lr, double t, Moved& m) {
  const double eps1 = o.eps1 > 0 ? o.eps1 : std::numeric_limits<double>::epsilon();
  const double weight = std::pow(t, o.beta2_decay);
  const auto square = [](double v) { return v * v; };
  const auto rms = [&](const Moved::Matrix& v) {
    return std::sqrt(SumOf(v, square) / Moved::kSize);
  };
  std::array<double, Moved::kRows> rows = {};
  std::array<double, Moved::kColumns> columns = {};
  for (size_t i = 0; i < Moved::kSize; ++i) {
    rows[i / Moved::kColumns] += square(m.grad[i]) / Moved::kColumns;
    columns[i % Moved::kColumns] += square(m.grad[i]) / Moved::kRows;
  }
  double mean = 0;
  for (size_t r = 0; r < Moved::kRows; ++r) {
    m.state[0][r] += weight * (rows[r] - m.state[0][r]);
    mean += m.state[0][r] / Moved::kRows;
  }
  for (size_t c = 0; c < Moved::kColumns; ++c) {
    m.state[1][c] += weight * (columns[c] - m.state[1][c]);
  }
  Moved::Matrix step;
  for (size_t i = 0; i < Moved::kSize; ++i) {
    const double u =
        m.state[0][i / Moved::kColumns] * m.state[1][i % Moved::kColumns] / std::max(mean, eps1);
    step[i] = m.grad[i] / std::sqrt(std::max(u, eps1 * eps1));
  }
  const double rate =
      std::max(o.eps2, rms(m.x)) * std::min(lr, 1 / std::sqrt(t)) / std::max(1.0, rms(step) / o.d);
  for (size_t i = 0; i < Moved::kSize; ++i) {
    m.x[i] = (1 - lr * o.weight_decay) * m.x[i] - rate * step[i];
  }
}

FIRN_REGISTER_OPTION_SAMPLES(adafactor) {
  const AdafactorOptions base = {.lr = 0.1, .weight_decay = 0.25};
  // A step as long as it may be, a parameter that is too short, gradients that are too small.
  return OfStep<AdafactorOptions>(
      {base, WithOption(base, "d", 1.25), WithOption(base, "eps2", 4), WithOption(base, "eps1", 4)},
      AdafactorStep);
}

}  // namespace
}  // namespace firn::testing

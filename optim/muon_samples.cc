#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "firn/optim/muon.h"
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

void MuonStep(const MuonOptions& o, double lr, double, Moved& m) {
  constexpr size_t kRows = Moved::kRows, kColumns = Moved::kColumns;
  Moved::Matrix x, next;
  for (size_t i = 0; i < Moved::kSize; ++i) {
    double& v = m.state[0][i];
    v = o.momentum * v + (1 - o.momentum) * m.grad[i];
    x[i] = o.nesterov ? m.grad[i] + o.momentum * (v - m.grad[i]) : v;
  }
  const double length = std::sqrt(SumOf(x, [](double v) { return v * v; }));
  for (double& v : x) v /= std::max(length, o.eps);
  for (int64_t step = 0; step < o.ns_steps; ++step) {
    std::array<std::array<double, kRows>, kRows> a = {}, factor = {};
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t s = 0; s < kRows; ++s) {
        for (size_t c = 0; c < kColumns; ++c) a[r][s] += x[r * kColumns + c] * x[s * kColumns + c];
      }
    }
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t s = 0; s < kRows; ++s) {
        factor[r][s] = o.ns_b * a[r][s];
        for (size_t k = 0; k < kRows; ++k) factor[r][s] += o.ns_c * a[r][k] * a[k][s];
      }
    }
    for (size_t i = 0; i < Moved::kSize; ++i) {
      next[i] = o.ns_a * x[i];
      for (size_t k = 0; k < kRows; ++k) {
        next[i] += factor[i / kColumns][k] * x[k * kColumns + i % kColumns];
      }
    }
    x = next;
  }
  const double rows = kRows, columns = kColumns;
  const double scale = o.scale == MuonScale::kOriginal ? std::sqrt(std::max(1.0, rows / columns))
                       : o.scale == MuonScale::kMatchRmsAdamW
                           ? 0.2 * std::sqrt(std::max(rows, columns))
                           : std::sqrt(rows / columns);
  for (size_t i = 0; i < Moved::kSize; ++i) {
    m.x[i] = (1 - lr * o.weight_decay) * m.x[i] - lr * scale * x[i];
  }
}

FIRN_REGISTER_OPTION_SAMPLES(muon) {
  // With other numbers in the polynomial, more iterations enlarge the rounding errors.
  const MuonOptions base = {.lr = 0.1, .weight_decay = 0.25, .momentum = 0.5, .ns_steps = 2};
  // The other eps is larger than a gradient.
  return OfStep<MuonOptions>({base, WithOption(base, "eps", 20)}, MuonStep);
}

}  // namespace
}  // namespace firn::testing

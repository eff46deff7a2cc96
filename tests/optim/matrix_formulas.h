#ifndef FIRN_TESTS_OPTIM_MATRIX_FORMULAS_H_
#define FIRN_TESTS_OPTIM_MATRIX_FORMULAS_H_

// Formulas of optimizers that are written with operations. See formulas.h.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "firn/optim/adafactor.h"
#include "firn/optim/muon.h"
#include "tests/optim/all_optimizers.h"
#include "tests/optim/formula.h"

namespace firn::optim {

template <>
struct Formula<Adafactor> : UsesAllOptions {
  static constexpr char kName[] = "Adafactor";
  static std::vector<AdafactorOptions> Bases() {
    const AdafactorOptions base = {.lr = 0.1, .weight_decay = 0.25};
    // A step as long as it may be, a parameter that is too short, gradients that are too small.
    return {base, WithOption(base, "d", 1.25), WithOption(base, "eps2", 4),
            WithOption(base, "eps1", 4)};
  }
  static void Step(const AdafactorOptions& o, double lr, double t, Moved& m) {
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
    const double rate = std::max(o.eps2, rms(m.x)) * std::min(lr, 1 / std::sqrt(t)) /
                        std::max(1.0, rms(step) / o.d);
    for (size_t i = 0; i < Moved::kSize; ++i) {
      m.x[i] = (1 - lr * o.weight_decay) * m.x[i] - rate * step[i];
    }
  }
};

template <>
struct Formula<Muon> : UsesAllOptions {
  static constexpr char kName[] = "Muon";
  static std::vector<MuonOptions> Bases() {
    // Where the numbers of the polynomial are other ones, more iterations enlarge what is rounded.
    const MuonOptions base = {.lr = 0.1, .weight_decay = 0.25, .momentum = 0.5, .ns_steps = 2};
    return {base, WithOption(base, "eps", 20)};  // larger than a gradient
  }
  static void Step(const MuonOptions& o, double lr, double, Moved& m) {
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
          for (size_t c = 0; c < kColumns; ++c)
            a[r][s] += x[r * kColumns + c] * x[s * kColumns + c];
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
};

}  // namespace firn::optim

#endif  // FIRN_TESTS_OPTIM_MATRIX_FORMULAS_H_

// Windows and filter banks are made of operations in f64 and rounded at the end: in f32 a cosine's
// argument loses digits as the window gets longer. Half of a window is computed, and the rest is
// its mirror image.

#include "firn/tensor/ops/signal/windows.h"

#include <cmath>

#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/elementwise/trigonometry.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

constexpr double kPi = 3.14159265358979323846;

void CheckFloating(DType dtype, std::string_view op) {
  if (!IsFloating(dtype)) {
    RaiseStatus(InvalidArgument("dtype must be floating, got ", DTypeName(dtype)), op);
  }
}

Tensor WindowNamed(std::string_view op, const std::vector<double>& coefficients, int64_t n,
                   const WindowOptions& options) {
  if (n < 0) RaiseStatus(InvalidArgument("n is ", n, " (want >= 0)"), op);
  if (coefficients.empty()) RaiseStatus(InvalidArgument("there are no coefficients"), op);
  CheckFloating(options.dtype, op);
  if (n <= 1) return Ones({n}, options.dtype, options.device);
  if (coefficients.size() == 1) return Full({n}, coefficients[0], options.dtype, options.device);
  const int64_t period = options.periodic ? n : n - 1, half = period / 2 + 1;
  Tensor window;
  for (size_t i = 1; i < coefficients.size(); ++i) {
    const double angle = 2 * kPi * static_cast<double>(i) / static_cast<double>(period);
    const double factor = i % 2 == 0 ? coefficients[i] : -coefficients[i];
    const Tensor angles = Arange(0.0, (static_cast<double>(half) - 0.5) * angle, angle,
                                 {.dtype = DType::kF64, .device = options.device});
    const Tensor term = Mul(Cos(angles), factor);
    window = i == 1 ? Add(term, coefficients[0]) : Add(window, term);
  }
  const Tensor first = Cast(window, options.dtype);  // element t is element period - t
  return Concat({first, Flip(Slice(first, 0, period - n + 1, period - half + 1), 0)}, 0);
}

double Mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

}  // namespace

Tensor CosineWindow(const std::vector<double>& coefficients, Integer n,
                    const WindowOptions& options) {
  return WindowNamed("cosine_window", coefficients, n, options);
}

Tensor HannWindow(Integer n, const WindowOptions& options) {
  return WindowNamed("hann_window", {0.5, 0.5}, n, options);
}

Tensor HammingWindow(Integer n, const WindowOptions& options) {
  return WindowNamed("hamming_window", {0.54, 0.46}, n, options);
}

Tensor BlackmanWindow(Integer n, const WindowOptions& options) {
  return WindowNamed("blackman_window", {0.42, 0.5, 0.08}, n, options);
}

Tensor MelFilterBank(Integer bins, Integer n_fft, Real sample_rate,
                     const MelFilterBankOptions& options) {
  constexpr const char* kName = "mel_filter_bank";
  const double rate = sample_rate, high = options.high.value_or(rate / 2);
  if (bins < 1 || n_fft < 1 || !(rate > 0) || !std::isfinite(rate)) {
    RaiseStatus(InvalidArgument("bins, n_fft and sample_rate must be positive, got ", int64_t{bins},
                                ", ", int64_t{n_fft}, " and ", rate),
                kName);
  }
  if (!(options.low >= 0) || !(options.low < high) || !std::isfinite(high)) {
    RaiseStatus(
        InvalidArgument("low and high must be 0 <= low < high, got ", options.low, " and ", high),
        kName);
  }
  CheckFloating(options.dtype, kName);
  const Tensor mels = Linspace(Mel(options.low), Mel(high), bins + 2, DType::kF64, options.device);
  const Tensor corners = Mul(Sub(Exp(Mul(mels, std::log(10.0) / 2595)), 1.0), 700.0);
  const Tensor frequencies = Linspace(0.0, rate / 2, n_fft / 2 + 1, DType::kF64, options.device);
  const Tensor widths = Sub(Slice(corners, 0, 1), Slice(corners, 0, 0, bins + 1));
  const Tensor distances = Sub(corners, Unsqueeze(frequencies, 1));  // [frequencies, bins + 2]
  const Tensor rising = Neg(Div(Slice(distances, 1, 0, bins), Slice(widths, 0, 0, bins)));
  const Tensor falling = Div(Slice(distances, 1, 2), Slice(widths, 0, 1));
  return Cast(Maximum(Minimum(rising, falling), 0.0), options.dtype);
}

}  // namespace firn

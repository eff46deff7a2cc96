#ifndef FIRN_TENSOR_OPS_SIGNAL_WINDOWS_H_
#define FIRN_TENSOR_OPS_SIGNAL_WINDOWS_H_

#include <optional>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

struct WindowOptions {
  bool periodic = true;  // the first n of a symmetric window of n + 1: what spectra are made with
  DType dtype = kDefaultFloat;
  Device device = {};
};

// Windows that are sums of cosines, of n numbers, as torch.signal.windows.general_cosine:
//   w[t] = sum over i of (-1)^i coefficients[i] cos(2 pi i t / m), m = n or, symmetric, n - 1
// A window of one number is 1. Computed in f64. Throw when n is negative, without coefficients, and
// on dtypes that are not floating.
Tensor CosineWindow(const std::vector<double>& coefficients, inner::Integer n,
                    const WindowOptions& options = {});
// Coefficients 0.5, 0.5.
Tensor HannWindow(inner::Integer n, const WindowOptions& options = {});
// Coefficients 0.54, 0.46.
Tensor HammingWindow(inner::Integer n, const WindowOptions& options = {});
// Coefficients 0.42, 0.5, 0.08.
Tensor BlackmanWindow(inner::Integer n, const WindowOptions& options = {});

struct MelFilterBankOptions {
  double low = 0;                   // Hz, where the first filter begins
  std::optional<double> high = {};  // Hz, where the last one ends; absent: half of sample_rate
  DType dtype = kDefaultFloat;
  Device device = {};
};

// Triangular filters, evenly spaced on the mel scale of HTK (2595 log10(1 + f / 700)) and of height
// 1, as torchaudio's melscale_fbanks: spectrum [..., n_fft / 2 + 1] times it is [..., bins].
//   result: [n_fft / 2 + 1, bins]
// Computed in f64. Throws unless bins, n_fft and sample_rate are positive and 0 <= low < high.
Tensor MelFilterBank(inner::Integer bins, inner::Integer n_fft, inner::Real sample_rate,
                     const MelFilterBankOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SIGNAL_WINDOWS_H_

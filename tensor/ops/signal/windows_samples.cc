#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/signal/windows.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct WindowAttrs {
  int64_t n = 0;
  bool periodic = true;
  template <class V>
  void Visit(V& v) {
    v.Field("n", n);
    v.Field("periodic", periodic);
  }
};

RefTensor WindowOf(const std::vector<double>& coefficients, const WindowAttrs& a) {
  RefTensor w(Shape{a.n});
  const double period = static_cast<double>(a.periodic ? a.n : a.n - 1);
  for (int64_t t = 0; t < a.n; ++t) {
    for (size_t i = 0; i < coefficients.size(); ++i) {
      const double angle = 2 * M_PI * static_cast<double>(i) * static_cast<double>(t) / period;
      w[t] += (i % 2 == 0 ? 1 : -1) * coefficients[i] * std::cos(angle);
    }
    if (a.n == 1) w[t] = 1;
  }
  return w;
}

// The samples of a window with these coefficients.
void AddWindow(Samples& s, std::vector<double> coefficients) {
  s.Declare({}, {{.name = "y", .dtypes = SetOf(kDefaultFloat), .constant = true}});
  s.Reference(
      [coefficients = std::move(coefficients)](absl::Span<const RefTensor>, AttrsRef attrs) {
        return std::vector<RefTensor>{WindowOf(coefficients, attrs.get<WindowAttrs>())};
      });
  s.Add("periodic", {}, WindowAttrs{8});
  s.Add("symmetric", {}, WindowAttrs{7, false});
  s.Add("one number", {}, WindowAttrs{1, false});
  s.Add("two numbers", {}, WindowAttrs{2, false});
  s.Add("no numbers", {}, WindowAttrs{0});
  s.AddLarge("1M", {}, WindowAttrs{1 << 20}, 0, 4.2e6);
  s.AddError("negative", {}, WindowAttrs{-1}, "n is -1 (want >= 0)");
}

FIRN_REGISTER_COMPOSITE(hann_window) {
  s.Function([](In, const WindowAttrs& a) { return HannWindow(a.n, {.periodic = a.periodic}); });
  AddWindow(s, {0.5, 0.5});
}

FIRN_REGISTER_COMPOSITE(hamming_window) {
  s.Function([](In, const WindowAttrs& a) { return HammingWindow(a.n, {.periodic = a.periodic}); });
  AddWindow(s, {0.54, 0.46});
}

FIRN_REGISTER_COMPOSITE(blackman_window) {
  s.Function(
      [](In, const WindowAttrs& a) { return BlackmanWindow(a.n, {.periodic = a.periodic}); });
  AddWindow(s, {0.42, 0.5, 0.08});
}

FIRN_REGISTER_COMPOSITE(cosine_window) {
  s.Function([](In, const WindowAttrs& a) {
    return CosineWindow({0.4, 0.5, 0.09, 0.01}, a.n, {.periodic = a.periodic});
  });
  s.WithoutVectors("those of its special cases are compared");
  AddWindow(s, {0.4, 0.5, 0.09, 0.01});
}

struct MelAttrs {
  int64_t bins = 1, n_fft = 1;
  double sample_rate = 1, low = 0, high = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("bins", bins);
    v.Field("n_fft", n_fft);
    v.Field("sample_rate", sample_rate);
    v.Field("low", low);
    v.Field("high", high);
  }
};

FIRN_REGISTER_COMPOSITE(mel_filter_bank) {
  s.Declare({}, {{.name = "y", .dtypes = SetOf(kDefaultFloat), .constant = true}});
  s.Function([](In, const MelAttrs& a) {
    return MelFilterBank(a.bins, a.n_fft, a.sample_rate, {.low = a.low, .high = a.high});
  });
  s.WithoutVectors("torchaudio's function, which golden cases have no use for otherwise");
  s.Reference([](absl::Span<const RefTensor>, AttrsRef attrs) {
    const MelAttrs& a = attrs.get<MelAttrs>();
    const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
    const auto corner = [&](int64_t i) {  // in Hz
      const double m = mel(a.low) + (mel(a.high) - mel(a.low)) * static_cast<double>(i) /
                                        static_cast<double>(a.bins + 1);
      return 700 * (std::pow(10, m / 2595) - 1);
    };
    RefTensor y(Shape{a.n_fft / 2 + 1, a.bins});
    for (int64_t k = 0; k < y.shape[0]; ++k) {
      const double steps = static_cast<double>(std::max<int64_t>(1, y.shape[0] - 1));
      const double f = a.sample_rate / 2 * static_cast<double>(k) / steps;
      for (int64_t b = 0; b < a.bins; ++b) {
        const double up = (f - corner(b)) / (corner(b + 1) - corner(b));
        const double down = (corner(b + 2) - f) / (corner(b + 2) - corner(b + 1));
        y[k * a.bins + b] = std::max(0.0, std::min(up, down));
      }
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("speech", {}, MelAttrs{8, 64, 16000, 0, 8000});
  s.Add("a part", {}, MelAttrs{5, 33, 8000, 300, 3400});
  s.Add("one filter", {}, MelAttrs{1, 16, 100, 10, 40});
  s.AddLarge("128 of 2048", {}, MelAttrs{128, 2048, 16000, 0, 8000}, 0, 0.5e6);
  s.AddError("bins", {}, MelAttrs{0, 16, 100, 10, 40},
             "bins, n_fft and sample_rate must be positive, got 0, 16 and 100");
  s.AddError("frequencies", {}, MelAttrs{4, 16, 100, 40, 10},
             "low and high must be 0 <= low < high, got 40 and 10");
}

}  // namespace
}  // namespace firn::testing

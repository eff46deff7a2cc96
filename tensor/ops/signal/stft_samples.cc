#include <cmath>
#include <complex>

#include "firn/tensor/ops/signal/stft.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct StftAttrs {
  int64_t n_fft = 4, hop = 1;
  bool center = true, normalized = false, onesided = true;
  template <class V>
  void Visit(V& v) {
    v.Field("n_fft", n_fft);
    v.Field("hop", hop);
    v.Field("center", center);
    v.Field("normalized", normalized);
    v.Field("onesided", onesided);
  }
};

// The window in the middle of a frame; ones where there is none.
std::vector<double> WindowOf(absl::Span<const RefTensor> in, int64_t n_fft) {
  std::vector<double> w(static_cast<size_t>(n_fft), 1);
  if (in.size() < 2 || !in[1].defined()) return w;
  const int64_t length = in[1].size(), left = (n_fft - length) / 2;
  for (int64_t i = 0; i < n_fft; ++i) {
    w[static_cast<size_t>(i)] = i < left || i >= left + length ? 0 : in[1][i - left];
  }
  return w;
}

Tensor Given(In in) { return in.size() > 1 ? in[1] : Tensor(); }
std::optional<int64_t> LengthOf(const Tensor& window) {
  if (!window.defined() || window.rank() != 1) return {};
  return window.size(0);
}

std::vector<RefTensor> ReferenceStft(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const StftAttrs& a = attrs.get<StftAttrs>();
  const std::vector<double> w = WindowOf(in, a.n_fft);
  const int64_t t = in[0].shape.dim(-1), pad = a.center ? a.n_fft / 2 : 0;
  const int64_t frames = (t + 2 * pad - a.n_fft) / a.hop + 1, lines = in[0].size() / t;
  const int64_t coefficients = a.onesided ? a.n_fft / 2 + 1 : a.n_fft;
  std::vector<int64_t> sizes(in[0].shape.begin(), in[0].shape.end() - 1);
  sizes.insert(sizes.end(), {coefficients, frames, 2});
  RefTensor y{Shape(sizes)};
  const double factor = a.normalized ? 1 / std::sqrt(static_cast<double>(a.n_fft)) : 1;
  for (int64_t at = 0; at < lines * coefficients * frames; ++at) {
    const int64_t frame = at % frames, k = at / frames % coefficients;
    const int64_t line = at / frames / coefficients;
    std::complex<double> sum;
    for (int64_t i = 0; i < a.n_fft; ++i) {
      int64_t from = std::abs(frame * a.hop + i - pad);  // reflected at both ends
      if (from >= t) from = 2 * (t - 1) - from;
      const double angle = -2 * M_PI * static_cast<double>(k * i) / static_cast<double>(a.n_fft);
      sum += std::polar(w[static_cast<size_t>(i)] * in[0][line * t + from] * factor, angle);
    }
    y[2 * at] = sum.real();
    y[2 * at + 1] = sum.imag();
  }
  return {y};
}

// Options of both directions, whose options have the same names.
template <class Options>
Options OptionsOf(In in, const StftAttrs& a) {
  return {.hop = a.hop,
          .win_length = LengthOf(Given(in)),
          .window = Given(in),
          .center = a.center,
          .normalized = a.normalized,
          .onesided = a.onesided};
}

FIRN_REGISTER_COMPOSITE(stft) {
  s.Declare({{.name = "x", .dtypes = SetOf(DType::kF32) | SetOf(DType::kF64)},
             {.name = "window", .same_dtype_as = "x", .optional = true}});
  s.Function([](In in, const StftAttrs& a) {
    return Stft(in[0], a.n_fft, OptionsOf<StftOptions>(in, a));
  });
  s.Reference(ReferenceStft);
  s.atol_f32 = 1e-5;  // sums that cancel
  s.Add("a line", {Normal({12}), Uniform({6}, 0.5, 1, 2)}, StftAttrs{6, 2});
  s.Add("without a window", {Normal({2, 9}), Tensor()}, StftAttrs{4, 3});
  s.Add("a short window", {Normal({10}), Uniform({3}, 0.5, 1, 2)}, StftAttrs{6, 2});
  s.Add("not centred, normalized", {Normal({2, 10}), Uniform({5}, 0.5, 1, 2)},
        StftAttrs{5, 2, false, true});
  s.Add("both sides", {Normal({8}), Uniform({4}, 0.5, 1, 2)}, StftAttrs{4, 2, true, false, false});
  s.AddLarge("16x64K", {Normal({16, 65536}), Uniform({512}, 0.5, 1, 2)}, StftAttrs{512, 128},
             16 * 513 * 2.5 * 512 * 9, 38e6);
  s.AddError("n_fft", {Normal({4}), Tensor()}, StftAttrs{0}, "n_fft is 0 (want >= 1)");
  s.AddError("hop", {Normal({4}), Tensor()}, StftAttrs{4, 0}, "hop is 0 (want >= 1)");
  s.AddError("short line", {Normal({4}), Tensor()}, StftAttrs{6, 2, false},
             "n_fft is 6, and x [4] has 4 numbers with its padding");
  s.AddError("window", {Normal({8}), Normal({5}, 2)}, StftAttrs{4, 2},
             "win_length is 5 (want 1 to n_fft, 4)");
}

std::vector<RefTensor> ReferenceIstft(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const StftAttrs& a = attrs.get<StftAttrs>();
  const std::vector<double> w = WindowOf(in, a.n_fft);
  const int64_t coefficients = in[0].shape.dim(-3), frames = in[0].shape.dim(-2);
  const int64_t all = a.n_fft + a.hop * (frames - 1), pad = a.center ? a.n_fft / 2 : 0;
  const int64_t t = all - 2 * pad, lines = in[0].size() / (coefficients * frames * 2);
  std::vector<int64_t> sizes(in[0].shape.begin(), in[0].shape.end() - 3);
  sizes.push_back(t);
  RefTensor x{Shape(sizes)};
  const double factor =
      a.normalized ? 1 / std::sqrt(static_cast<double>(a.n_fft)) : 1 / static_cast<double>(a.n_fft);
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t at = 0; at < t; ++at) {
      double sum = 0, weight = 0;
      for (int64_t frame = 0; frame < frames; ++frame) {
        const int64_t i = at + pad - frame * a.hop;
        if (i < 0 || i >= a.n_fft) continue;
        const double own = w[static_cast<size_t>(i)];
        weight += own * own;
        for (int64_t k = 0; k < a.n_fft / 2 + 1; ++k) {
          const int64_t from = 2 * ((line * coefficients + k) * frames + frame);
          const bool alone = 2 * k % a.n_fft == 0;
          const double angle = 2 * M_PI * static_cast<double>(k * i) / static_cast<double>(a.n_fft);
          const double real = in[0][from] * std::cos(angle) - in[0][from + 1] * std::sin(angle);
          sum += own * factor * (alone ? 1 : 2) * real;
        }
      }
      x[line * t + at] = weight > 1e-11 ? sum / weight : 0;
    }
  }
  return {x};
}

FIRN_REGISTER_COMPOSITE(istft) {
  s.Declare({{.name = "y", .dtypes = SetOf(DType::kF32) | SetOf(DType::kF64)},
             {.name = "window", .same_dtype_as = "y", .optional = true}},
            {{.name = "x", .same_dtype_as = "y"}});
  s.Function([](In in, const StftAttrs& a) {
    return Istft(in[0], a.n_fft, OptionsOf<IstftOptions>(in, a));
  });
  s.Reference(ReferenceIstft);
  s.atol_f32 = 1e-5;  // sums that cancel
  s.Add("a line", {Normal({4, 5, 2}), Uniform({6}, 0.5, 1, 2)}, StftAttrs{6, 2});
  s.Add("without a window", {Normal({2, 3, 4, 2}), Tensor()}, StftAttrs{4, 3});
  s.Add("not centred, normalized", {Normal({3, 3, 2}), Uniform({5}, 0.5, 1, 2)},
        StftAttrs{5, 2, false, true});
  s.Add("both sides", {Normal({4, 3, 2}), Uniform({4}, 0.5, 1, 2)},
        StftAttrs{4, 2, true, false, false});
  s.AddLarge("16x64K", {Normal({16, 257, 513, 2}), Uniform({512}, 0.5, 1, 2)}, StftAttrs{512, 128},
             16 * 513 * 2.5 * 512 * 9, 38e6);
  s.AddError("coefficients", {Normal({4, 5, 2}), Tensor()}, StftAttrs{4, 2},
             "y must be [..., 3, frames, 2], got [4, 5, 2]");
}

}  // namespace
}  // namespace firn::testing

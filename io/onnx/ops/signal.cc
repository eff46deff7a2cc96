// Windows, Fourier transforms and filters.
#include <algorithm>
#include <cmath>
#include <utility>

#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

// --- Windows: known at once ---------------------------------------------------------------------

OnnxLowering Window(std::vector<double> coefficients) {
  return [coefficients = std::move(coefficients)](OnnxCall& call) -> Step {
    const int64_t size = call.node.KnownInt(0, "size");
    const DType dtype = call.Element("output_datatype", DType::kF32);
    call.node.Return(CosineWindow(coefficients, size,
                                  {.periodic = call.Flag("periodic", true), .dtype = dtype}));
    return {};
  };
}

const OnnxOpOptions kOfSize = {.settings = {0}, .check = HasElement("output_datatype")};
const OnnxOps kHann("HannWindow", 17, Window({0.5, 0.5}), kOfSize);
const OnnxOps kHamming("HammingWindow", 17, Window({25.0 / 46, 21.0 / 46}), kOfSize);
const OnnxOps kBlackman("BlackmanWindow", 17, Window({0.42, 0.5, 0.08}), kOfSize);

// Triangles between neighbouring bins of a spectrum, as the standard's own code rounds their ends.
std::vector<double> MelWeights(int64_t bins, int64_t length, double rate, double low, double high) {
  const int64_t spectrum = length / 2 + 1;
  const auto mel = [](double hertz) { return 2595 * std::log1p(hertz / 700) / std::log(10.0); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bins + 2);
  const auto edge = [&](int64_t i) {
    const double hertz =
        700 * std::expm1((static_cast<double>(i) * step + mel(low)) / 2595 * std::log(10.0));
    const double at = std::floor(static_cast<double>(length + 1) * hertz / rate);
    return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(spectrum - 1)));
  };
  std::vector<double> weights(static_cast<size_t>(spectrum * bins));
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t begin = edge(i), middle = edge(i + 1), end = edge(i + 2);
    const auto at = [&](int64_t row) -> double& {
      return weights[static_cast<size_t>(row * bins + i)];
    };
    if (begin == middle) at(middle) = 1;
    for (int64_t j = begin; begin < middle && j <= middle; ++j) {
      at(j) = static_cast<double>(j - begin) / static_cast<double>(middle - begin);
    }
    for (int64_t j = middle; j < end; ++j) {
      at(j) = static_cast<double>(end - j) / static_cast<double>(end - middle);
    }
  }
  return weights;
}

const OnnxOps kMel(
    "MelWeightMatrix", 17,
    [](OnnxCall& call) -> Step {
      const int64_t bins = call.node.KnownInt(0, "num_mel_bins");
      const int64_t length = call.node.KnownInt(1, "dft_length");
      const double rate = call.node.KnownNumber(2, "sample_rate");
      const double low = call.node.KnownNumber(3, "lower_edge_hertz");
      const double high = call.node.KnownNumber(4, "upper_edge_hertz");
      constexpr int64_t kMost = 1 << 24;
      if (bins < 1 || length < 1 || bins > kMost / (length / 2 + 1) || !(rate > 0) || !(low >= 0) ||
          !(low < high)) {
        RefuseNode("num_mel_bins, dft_length and sample_rate are expected above 0 and of at most ",
                   kMost, " weights, and edges that rise from 0 or more");
      }
      const Tensor weights =
          FromVector(MelWeights(bins, length, rate, low, high), {length / 2 + 1, bins});
      call.node.Return(weights.To(call.Element("output_datatype", DType::kF32)));
      return {};
    },
    {.settings = {0, 1, 2, 3, 4}, .check = HasElement("output_datatype")});

// --- DFT: complex numbers are the last dimension, of size 2; 1 there is real --------------------

struct Transform {
  int64_t axis = 1;
  int64_t length = 0;
  bool inverse = false, onesided = false;
};

// The first `length` numbers along an axis, or zeros behind them.
Tensor OfLength(const Tensor& x, int64_t axis, int64_t length) {
  const int64_t have = x.size(axis);
  if (have >= length) return Narrow(x, axis, 0, length);
  std::vector<int64_t> pad(static_cast<size_t>(2 * (x.rank() - axis)), 0);
  pad.back() = length - have;
  return Pad(x, pad);
}

// Not by ?: with a list in one branch: an exception there left g++ 12 with a temporary that it
// destroyed out of its scope.
Tensor AsComplex(const Tensor& x) {
  if (x.size(-1) != 1) return x;
  return Concat({x, ZerosLike(x)}, -1);
}

Tensor RunTransform(const Transform& t, const Tensor& given) {
  const bool real = given.size(-1) == 1;
  if (t.inverse && t.onesided) {
    return Unsqueeze(Irfft(AsComplex(given), t.length, {t.axis}), -1);
  }
  const Tensor x = OfLength(given, t.axis, t.length);
  if (!t.inverse && t.onesided) {
    // The same half is asked for of complex numbers.
    if (real) return Rfft(Squeeze(x, {-1}), {t.axis});
    return Narrow(Fft(x, {t.axis}), t.axis, 0, t.length / 2 + 1);
  }
  const Tensor complex = AsComplex(x);
  return t.inverse ? Ifft(complex, {t.axis}) : Fft(complex, {t.axis});
}

Step LowerDft(OnnxCall& call, int64_t axis) {
  const Shape& x = call.node.ShapeAt(0);
  if (x.rank() < 2 || x[x.rank() - 1] < 1 || x[x.rank() - 1] > 2) {
    RefuseNode("input 0 is expected to have a last dimension of 1 or 2, it is ", x.ToString());
  }
  Transform t = {.axis = call.Axis(axis, x.rank()),
                 .inverse = call.Flag("inverse", false),
                 .onesided = call.Flag("onesided", false)};
  if (t.axis == x.rank() - 1) RefuseNode("the last dimension is no axis to transform");
  t.length = x[t.axis];
  if (t.inverse && t.onesided) t.length = 2 * (t.length - 1);
  if (call.node.Has(1)) t.length = call.node.KnownInt(1, "dft_length");
  if (t.length < 1) RefuseNode("dft_length is expected to be 1 or more, it is ", t.length);
  return One([=](In in) { return RunTransform(t, in[0]); });
}

const OnnxOps kDft17("DFT", 17,
                     [](OnnxCall& call) -> Step { return LowerDft(call, call.Int("axis", 1)); },
                     {.settings = {1}});
const OnnxOps kDft20("DFT", 20,
                     [](OnnxCall& call) -> Step {
                       return LowerDft(call, call.node.Has(2) ? call.node.KnownInt(2, "axis") : -2);
                     },
                     {.settings = {1, 2}});

// STFT: signal [batch, length, 1], frame_step, window, frame_length.
const OnnxOps kStft(
    "STFT", 17,
    [](OnnxCall& call) -> Step {
      const Shape& x = call.node.ShapeAt(0);
      if (x.rank() == 3 && x[2] == 2) {
        RefuseUnsupported("complex signals are not supported");
      }
      if (x.rank() != 2 && (x.rank() != 3 || x[2] != 1)) {
        RefuseNode("signal is expected to be [batch, length, 1], it is ", x.ToString());
      }
      const int64_t hop = call.node.KnownInt(1, "frame_step");
      const int64_t length = call.node.Has(3)   ? call.node.KnownInt(3, "frame_length")
                             : call.node.Has(2) ? call.node.Spec(2).shape.num_elements()
                                                : x[1];
      const bool onesided = call.Flag("onesided", true);
      return One([=](In in) {
        const Tensor signal = in[0].rank() == 3 ? Squeeze(in[0], {2}) : in[0];
        const Tensor window = At(in, 2).defined() ? in[2].To(signal.dtype()) : Tensor();
        StftOptions options = {.hop = hop, .window = window, .center = false, .onesided = onesided};
        if (window.defined()) options.win_length = window.num_elements();
        return Transpose(Stft(signal, length, options), 1, 2);
      });
    },
    {.settings = {1, 3}});

}  // namespace
}  // namespace firn::io::internal

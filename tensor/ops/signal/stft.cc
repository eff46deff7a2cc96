// stft: frames are a view of the line, read where they are multiplied by the window, and
// transformed together.
//
// istft: frames are added up where they overlap.

#include "firn/tensor/ops/signal/stft.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/rearrange.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/signal/fft.h"

namespace firn {
namespace {

// What both directions check and use.
struct Frames {
  template <class Options>
  Frames(const Tensor& x, int64_t size, const Options& o, std::string_view name)
      : op(name), n_fft(size), hop(o.hop.value_or(size / 4)), given_window(o.window) {
    if (n_fft < 1) RaiseStatus(InvalidArgument("n_fft is ", n_fft, " (want >= 1)"), op);
    if (hop < 1) RaiseStatus(InvalidArgument("hop is ", hop, " (want >= 1)"), op);
    win_length = o.win_length.value_or(n_fft);
    if (win_length < 1 || win_length > n_fft) {
      RaiseStatus(InvalidArgument("win_length is ", win_length, " (want 1 to n_fft, ", n_fft, ")"),
                  op);
    }
    if (o.window.defined() && (o.window.rank() != 1 || o.window.size(0) != win_length)) {
      RaiseStatus(
          InvalidArgument("window must be [", win_length, "], got ", o.window.shape().ToString()),
          op);
    }
    if (x.dtype() != DType::kF32 && x.dtype() != DType::kF64) {
      RaiseStatus(InvalidArgument("x must be f32 or f64, got ", DTypeName(x.dtype())), op);
    }
    norm = o.normalized ? FftNorm::kOrtho : FftNorm::kBackward;
  }

  // [n_fft], in x's dtype; undefined for ones everywhere.
  Tensor Window(const Tensor& x) const {
    if (!given_window.defined() && win_length == n_fft) return {};
    const Tensor own = given_window.defined() ? given_window.To(x.dtype())
                                              : Ones({win_length}, x.dtype(), x.device());
    const int64_t left = (n_fft - win_length) / 2;
    return win_length == n_fft ? own : Pad(own, {left, n_fft - win_length - left});
  }
  std::string_view op;
  int64_t n_fft, hop, win_length;
  Tensor given_window;
  FftNorm norm;
};

}  // namespace

Tensor Stft(const Tensor& x, Integer n_fft, const StftOptions& options) {
  CheckDefined(x, "stft");
  const Frames f(x, n_fft, options, "stft");
  if (x.rank() < 1) RaiseStatus(InvalidArgument("x must have a dimension, got []"), f.op);
  const int64_t pad = options.center ? f.n_fft / 2 : 0;
  if (pad > 0 && options.pad_mode == PadMode::kReflect && x.shape().dim(-1) <= pad) {
    RaiseStatus(InvalidArgument("n_fft is ", f.n_fft, ", and x ", x.shape().ToString(),
                                " has no more than half as many numbers, which is what its padding"
                                " reflects: want a smaller n_fft, another pad_mode, or no center"),
                f.op);
  }
  const Tensor line = pad == 0 ? x : Pad(x, {pad, pad}, {.mode = options.pad_mode});
  const int64_t t = line.shape().dim(-1);
  if (t < f.n_fft) {
    RaiseStatus(InvalidArgument("n_fft is ", f.n_fft, ", and x ", x.shape().ToString(), " has ", t,
                                " numbers with its padding"),
                f.op);
  }
  Tensor frames = SlidingWindow(line, -1, f.n_fft, f.hop);
  if (const Tensor window = f.Window(x); window.defined()) frames = Mul(frames, window);
  const Tensor y = options.onesided ? Rfft(frames, {-1}, f.norm)
                                    : Fft(Stack({frames, ZerosLike(frames)}, -1), {-1}, f.norm);
  return Transpose(y, -3, -2);
}

Tensor Istft(const Tensor& y, Integer n_fft, const IstftOptions& options) {
  CheckDefined(y, "istft", "y");
  const Frames f(y, n_fft, options, "istft");
  const int64_t coefficients = options.onesided ? f.n_fft / 2 + 1 : f.n_fft;
  if (y.rank() < 3 || y.shape().dim(-1) != 2 || y.shape().dim(-3) != coefficients ||
      y.shape().dim(-2) < 1) {
    RaiseStatus(InvalidArgument("y must be [..., ", coefficients, ", frames, 2], got ",
                                y.shape().ToString()),
                f.op);
  }
  const int64_t count = y.shape().dim(-2);
  constexpr int64_t kMost = int64_t{1} << 48;  // numbers of a line: sums of them do not overflow
  if (f.hop > kMost / count || options.length.value_or(1) > kMost) {
    RaiseStatus(
        InvalidArgument("hop or length is too large: ", f.hop, ", ", options.length.value_or(1)),
        f.op);
  }
  const int64_t all = f.n_fft + f.hop * (count - 1);
  const int64_t start = options.center ? f.n_fft / 2 : 0;
  const int64_t length = options.length.value_or(all - 2 * start);
  if (length < 1) {
    RaiseStatus(InvalidArgument("the result would have ", length, " numbers (want >= 1)"), f.op);
  }
  const Tensor turned = Transpose(y, -3, -2);
  // The second half of both sides mirrors the first in the spectrum of a real line, and is not
  // read.
  Tensor frames = Irfft(turned, f.n_fft, {-1}, f.norm);
  Tensor window = f.Window(y);
  if (!window.defined()) window = Ones({f.n_fft}, y.dtype(), y.device());
  frames = Mul(frames, window);
  const Tensor squares = Expand(Mul(window, window), {count, f.n_fft});
  const Tensor weights = AddWindows(squares, 0, f.hop, all);
  const Tensor covered = Gt(weights, 1e-11);
  const Tensor line =
      Div(AddWindows(frames, frames.rank() - 2, f.hop, all), Where(covered, weights, 1.0));
  const Tensor x = Slice(Where(covered, line, 0.0), -1, start, start + length);
  const int64_t missing = length - x.shape().dim(-1);
  return missing > 0 ? Pad(x, {0, missing}) : x;
}

}  // namespace firn

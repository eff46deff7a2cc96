#ifndef FIRN_TENSOR_OPS_SIGNAL_STFT_H_
#define FIRN_TENSOR_OPS_SIGNAL_STFT_H_

#include <optional>

#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct StftOptions {
  std::optional<int64_t> hop = {};         // from one frame to the next; absent: n_fft / 4
  std::optional<int64_t> win_length = {};  // of the window, in the middle of a frame; absent: n_fft
  Tensor window = {};                      // [win_length]; undefined: ones
  bool center = true;                      // frame i is around number i hop: pads by n_fft / 2
  PadMode pad_mode = PadMode::kReflect;
  bool normalized = false;  // divides by the root of n_fft
  bool onesided = true;     // the first n_fft / 2 + 1 coefficients alone
};

// Short-time Fourier transforms: those of overlapping frames of n_fft numbers, each times a window,
// like torch.stft.
//   x: [..., t]      result: [..., n_fft / 2 + 1, frames, 2], or [..., n_fft, frames, 2]
//   frames = (t + 2 pad - n_fft) / hop + 1, pad = n_fft / 2 with `center`, else 0
// f32 and f64; the last dimension is real and imaginary part. Throws where sizes do not fit: n_fft
// < 1 or longer than the padded line, hop < 1, a window of another length.
Tensor Stft(const Tensor& x, inner::Integer n_fft, const StftOptions& options = {});

struct IstftOptions {
  std::optional<int64_t> hop = {};  // these as for Stft
  std::optional<int64_t> win_length = {};
  Tensor window = {};
  bool center = true;
  bool normalized = false;
  bool onesided = true;
  std::optional<int64_t> length = {};  // of the result; absent: all that frames tell
};

// The line whose Stft is closest to y (Griffin and Lim, 1984): frames times the window, added where
// they overlap and divided by the sum of the windows' squares, like torch.istft.
//   y: [..., n_fft / 2 + 1, frames, 2], or [..., n_fft, frames, 2]      result: [..., t]
// If y has both sides, only the first n_fft / 2 + 1 coefficients are read, as there.
//   t = n_fft + hop (frames - 1), less n_fft / 2 on both sides with `center`
// Numbers that no window covers (its square below 1e-11) are 0; PyTorch refuses such windows.
// Throws where sizes do not fit, as Stft.
Tensor Istft(const Tensor& y, inner::Integer n_fft, const IstftOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SIGNAL_STFT_H_

#ifndef FIRN_IO_CAPTURED_CAPTURED_TRANSFORMS_H_
#define FIRN_IO_CAPTURED_CAPTURED_TRANSFORMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "firn/io/captured/captured_call.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// A Fourier transform as a product: x in the order `to_end` has its lines last; as [.., given] of
// the sizes `flat`, times the matrix (f64, [given, made]), it is y of the sizes `made` in the order
// that `back` turns. Complex numbers are two in a line.
struct CapturedTransform {
  Tensor matrix;
  std::vector<int64_t> to_end, back;
  CapturedSizes flat, made;
};

// For a call of fft, ifft, rfft or irfft; nothing for any other operation. Lines whose matrix would
// be larger than the network around it are refused, and give nothing.
std::optional<CapturedTransform> TransformOf(CapturedCall& call);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CAPTURED_CAPTURED_TRANSFORMS_H_

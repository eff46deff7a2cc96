#ifndef FIRN_TENSOR_PRECISION_H_
#define FIRN_TENSOR_PRECISION_H_

#include <cstdint>

#include "firn/device/arguments.h"

namespace firn {

// Whether f32 convolutions may use Winograd's method (Lavin & Gray, 2016). It is two to three times
// as fast for 3x3 and 5x5 kernels of stride 1; its errors are about 2e-6 of the largest result,
// where the direct method has 4e-7. Networks train the same with either, but not bit for bit. f64
// never uses it, half types do where they are computed in f32. For the whole process, from the next
// operation on; true at the start. A compiled graph keeps the setting with which it chose its
// kernels. Thread-safe.
void SetWinogradAllowed(inner::Flag allowed);
bool WinogradAllowed();

// How a CUDA device multiplies f32 numbers.
enum class F32Math : uint8_t {
  kStrict,  // as f32
  kTf32,    // rounded to TF32 first (10 bits of fraction, as f16 has; the range of f32), summed in
            // f32: several times as fast, errors about 1e-3 of the largest product
};
// For products of matrices and for convolutions; at the start as in PyTorch, kStrict for the former
// and kTf32 for the latter. For the whole process, like SetWinogradAllowed. The CPU does not use
// TF32.
void SetMatmulMath(F32Math math);
F32Math MatmulMath();
void SetConvMath(F32Math math);
F32Math ConvMath();

namespace inner::internal {

// All of the above.
struct Precision {
  bool winograd;
  F32Math matmul, conv;
  // The settings that apply on this thread now.
  static Precision Now() { return {WinogradAllowed(), MatmulMath(), ConvMath()}; }
};

// While one lives, these settings apply on this thread instead of the process's. Compiled graphs
// use it to keep their settings. `precision` outlives the scope. Scopes nest; the innermost one
// counts.
class PrecisionScope {
 public:
  [[nodiscard]] explicit PrecisionScope(const Precision& precision);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  const Precision* const outer_;
};

}  // namespace inner::internal

}  // namespace firn

#endif  // FIRN_TENSOR_PRECISION_H_

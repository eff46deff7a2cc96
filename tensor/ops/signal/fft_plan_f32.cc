// Fourier transforms of lines of float numbers. A file of its own, because it takes long to
// compile.

#include "firn/tensor/ops/signal/fft_body.h"

namespace firn::cpu {

FIRN_FFT_PLAN(, float);

}  // namespace firn::cpu

// The passes of Fourier transforms of float numbers. A file of its own, because it takes long to
// compile.

#include "firn/tensor/ops/signal/fft_factors_body.h"

namespace firn::cpu {

template class FftPasses<float>;

}  // namespace firn::cpu

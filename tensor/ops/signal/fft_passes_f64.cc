// The passes of Fourier transforms of double numbers. A file of its own: it takes a compiler long.

#include "firn/tensor/ops/signal/fft_factors_body.h"

namespace firn::cpu {

template class FftPasses<double>;

}  // namespace firn::cpu

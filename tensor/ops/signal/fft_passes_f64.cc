// The passes of Fourier transforms of double numbers. A file of its own, because it takes long to
// compile.

#include "firn/tensor/ops/signal/fft_factors_body.h"

namespace firn::cpu {

template class FftPasses<double>;

}  // namespace firn::cpu

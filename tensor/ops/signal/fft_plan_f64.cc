// Fourier transforms of lines of double numbers. A file of its own, because it takes long to
// compile.

#include "firn/tensor/ops/signal/fft_body.h"

namespace firn::cpu {

template void LineFft<double>::Run(const FromSplit<double>&, SplitComplex<double>,
                                   SplitComplex<double>, const ToSplit<double>&) const;
FIRN_FFT_PLAN(, double);

}  // namespace firn::cpu

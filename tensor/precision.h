#ifndef FIRN_TENSOR_PRECISION_H_
#define FIRN_TENSOR_PRECISION_H_

namespace firn {

// Whether f32 convolutions may use Winograd's method (Lavin & Gray, 2016). It is two to three times
// as fast for 3x3 and 5x5 kernels of stride 1; its errors are about 1e-5 of the largest result,
// where the direct method has 4e-7. Networks train the same with either, but not bit for bit. Other
// dtypes never use it. For the whole process, from the next operation on; true at the start. A
// compiled graph keeps to what was set when it chose its kernels.
// Thread-safe.
void SetWinogradAllowed(bool allowed);
bool WinogradAllowed();

}  // namespace firn

#endif  // FIRN_TENSOR_PRECISION_H_

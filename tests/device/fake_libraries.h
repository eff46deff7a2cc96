#ifndef FIRN_TESTS_DEVICE_FAKE_LIBRARIES_H_
#define FIRN_TESTS_DEVICE_FAKE_LIBRARIES_H_

#include "tests/device/fake_cuda.h"

namespace firn {

// While it lives, kernels on the stand-in `cuda` find stand-ins for cuFFT, cuSOLVER, cuBLAS and the
// parts of cuDNN for recurrent layers and attention. They do on the host what the libraries'
// documentation says, as work that is queued on the given stream, and check its conditions on
// arguments: places, leading dimensions, memory. Does nothing if `cuda` is null, and in builds
// without CUDA. One at a time.
class FakeLibraries {
 public:
  explicit FakeLibraries(FakeCuda* cuda);
  ~FakeLibraries();
  FakeLibraries(const FakeLibraries&) = delete;
  FakeLibraries& operator=(const FakeLibraries&) = delete;
};

}  // namespace firn

#endif  // FIRN_TESTS_DEVICE_FAKE_LIBRARIES_H_

#ifndef FIRN_DEVICE_INTERNAL_NVRTC_H_
#define FIRN_DEVICE_INTERNAL_NVRTC_H_

#include <string>
#include <utility>
#include <vector>

namespace firn::inner::internal {

// CUDA C++ for a compiler that reads no files: headers are found by the name in their #include.
struct CudaSource {
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  // name, text
};

// The machine code of `source` for devices of compute capability `capability` (90: 9.0), made by
// NVRTC, the compiler of CUDA `cuda_major`. It is loaded when it is first asked for, so that a
// machine without it runs everything else. Returns the error with the compiler's messages, or an
// empty text. Thread-safe.
std::string CompileCuda(const CudaSource& source, int capability, int cuda_major,
                        std::string* code);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_NVRTC_H_

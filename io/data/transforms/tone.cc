// Checks; internal/tone.cc computes.
#include "firn/io/data/transforms/tone.h"

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/adjust.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/tensor/error.h"

namespace firn::io {

Transform Posterize(Integer bits) {
  const char* const who = "posterize";
  if (bits < 0 || bits > 8) {
    RaiseStatus(InvalidArgument("bits is ", bits, " (want 0 to 8)"), who);
  }
  return [=](const Tensor& image, RandomGenerator&) {
    return internal::Posterized(internal::CheckedBytes(image, who), static_cast<int>(bits), who);
  };
}

Transform Solarize(Real threshold) {
  const char* const who = "solarize";
  internal::RequireFinite(threshold, "threshold", who);
  return [=](const Tensor& image, RandomGenerator&) {
    return internal::Solarized(internal::CheckedBytes(image, who), threshold, who);
  };
}

Transform AutoContrast() {
  return [](const Tensor& image, RandomGenerator&) {
    const char* const who = "auto_contrast";
    return internal::AutoContrasted(internal::CheckedBytes(image, who), who);
  };
}

Transform Equalize() {
  return [](const Tensor& image, RandomGenerator&) {
    const char* const who = "equalize";
    return internal::Equalized(internal::CheckedBytes(image, who), who);
  };
}

}  // namespace firn::io

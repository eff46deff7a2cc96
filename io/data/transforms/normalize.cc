// One pass from bytes to what the network sees. Dividing, not multiplying by reciprocals, gives
// torchvision's floats.
#include "firn/io/data/transforms/normalize.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

void Convert(const float* __restrict from, int64_t n, float mean, float stddev,
             float* __restrict to) {
  for (int64_t i = 0; i < n; ++i) to[i] = (from[i] - mean) / stddev;
}

void Convert(const uint8_t* __restrict from, int64_t n, float mean, float stddev,
             float* __restrict to) {
  for (int64_t i = 0; i < n; ++i) to[i] = (static_cast<float>(from[i]) / 255 - mean) / stddev;
}

}  // namespace

Transform ToFloat() {
  return [](const Tensor& image, RandomGenerator&) {
    const char* const who = "to_float";
    Tensor from = internal::CheckedImage(image, who);
    if (from.dtype() == DType::kF32) return from;
    Tensor out = internal::NewTensor(DType::kF32, from.shape(), who);
    const uint8_t* __restrict bytes = from.host_view<uint8_t>().data();
    float* __restrict to = out.mutable_host_view<float>().data();
    for (int64_t i = 0; i < from.num_elements(); ++i) to[i] = static_cast<float>(bytes[i]) / 255;
    return out;
  };
}

Transform Normalize(const NormalizeOptions& options) {
  const char* const who = "normalize";
  if (options.mean.empty() || options.mean.size() != options.stddev.size()) {
    RaiseStatus(InvalidArgument("expected as many means as standard deviations, and one at least, "
                                "got ",
                                options.mean.size(), " and ", options.stddev.size()),
                who);
  }
  for (const double mean : options.mean) internal::RequireFinite(mean, "a mean", who);
  for (const double stddev : options.stddev) {
    if (std::isfinite(stddev) && static_cast<float>(stddev) > 0) continue;
    RaiseStatus(InvalidArgument("a standard deviation is ", stddev, " (want a positive number)"),
                who);
  }
  return [options, who](const Tensor& image, RandomGenerator&) {
    const Tensor from = internal::CheckedImage(image, who);
    const auto given = static_cast<int64_t>(options.mean.size());
    if (given != 1 && given != from.size(0)) {
      RaiseStatus(InvalidArgument("expected an image of ", given, " channels, got ",
                                  from.spec().ToString()),
                  who);
    }
    Tensor out = internal::NewTensor(DType::kF32, from.shape(), who);
    const int64_t plane = from.size(1) * from.size(2);
    for (int64_t c = 0; c < from.size(0); ++c) {
      const size_t k = given == 1 ? 0 : static_cast<size_t>(c);
      internal::ForPixels(from, [&](auto pixel) {
        using T = decltype(pixel);
        Convert(internal::PlaneOf<T>(from, c).data, plane, static_cast<float>(options.mean[k]),
                static_cast<float>(options.stddev[k]),
                internal::MutablePlaneOf<float>(out, c).data);
      });
    }
    return out;
  };
}

}  // namespace firn::io

#ifndef FIRN_IO_DATA_TRANSFORMS_INTERNAL_IMAGE_H_
#define FIRN_IO_DATA_TRANSFORMS_INTERNAL_IMAGE_H_

// Checks, new images and planes that all transforms use.

#include <cstdint>
#include <string>

#include "firn/io/data/transforms/transform.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// The image row-major, u8 or f32 [channels, height, width] on the CPU. Throws kInvalidArgument
// unless it is, with at least one channel and one pixel; an error begins with `who`.
Tensor CheckedImage(const Tensor& image, const char* who);
// The same of u8 alone.
Tensor CheckedBytes(const Tensor& image, const char* who);
// The same of 1 or 3 channels.
Tensor CheckedColors(const Tensor& image, const char* who);

// Uninitialised, of the dtype and channels of a checked image. Throws where memory runs out.
Tensor NewImage(const Tensor& like, int64_t height, int64_t width, const char* who);
Tensor NewTensor(DType dtype, const Shape& shape, const char* who);

// Throw kInvalidArgument with "<who>: <name> is <value> (want ...)".
void RequireSide(int64_t side, const char* name, const char* who);  // 1 to 2^20
void RequireProbability(double p, const char* who);
void RequireFinite(double value, const char* name, const char* who);
// Finite, low <= high, low >= least.
void RequireInterval(const Interval& interval, double least, const char* name, const char* who);
void RequireNotNegative(double value, const char* name, const char* who);  // and finite

// A value that the image's dtype has: 0 to 255 of u8.
void RequirePixel(const Tensor& image, double value, const char* name, const char* who);

// A plane of a checked image: rows of `width` pixels, one after the other.
template <class T>
struct Plane {
  T* data;
  int64_t height, width;
  T* row(int64_t y) const { return data + y * width; }
};

// Channel `c` of a checked image.
template <class T>
Plane<const T> PlaneOf(const Tensor& image, int64_t c) {
  const int64_t height = image.size(1), width = image.size(2);
  return {image.host_view<T>().data() + c * height * width, height, width};
}
template <class T>
Plane<T> MutablePlaneOf(Tensor& image, int64_t c) {
  const int64_t height = image.size(1), width = image.size(2);
  return {image.mutable_host_view<T>().data() + c * height * width, height, width};
}

// f(uint8_t()) or f(float()), by the dtype of a checked image.
template <class F>
auto ForPixels(const Tensor& image, F f) {
  return image.dtype() == DType::kU8 ? f(uint8_t{}) : f(float{});
}

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_TRANSFORMS_INTERNAL_IMAGE_H_

#ifndef FIRN_TENSOR_PROBLEMS_IMAGES_H_
#define FIRN_TENSOR_PROBLEMS_IMAGES_H_

// Parts shared by operations on images: convolutions, pooling, unfolding. An image has one, two or
// three spatial dimensions; its tensor is [batch, channels, spatial...], or lacks the batch.

#include <cstdint>
#include <string_view>

#include "firn/tensor/op.h"
#include "firn/tensor/sizes.h"

namespace firn::inner {

// The dimensions beyond two. Requires: one to three of them.
Sizes ImageOf(const Shape& shape);
// A shape with these dimensions in front of `image`.
absl::StatusOr<Shape> ShapeOfImages(int64_t batch, int64_t channels, const Sizes& image);

// True for x [channels, spatial...] of `dims` spatial dimensions, false for x with a batch before
// them and for an undefined x. Throws when x has any other rank.
bool LacksBatch(const Tensor& x, int dims, std::string_view op);

// The operation of `dims` spatial dimensions.
template <OpName kOne, OpName kTwo, OpName kThree>
const OpDef& OpOfDims(int dims) {
  if (dims == 1) return TheOp<kOne>();
  return dims == 2 ? TheOp<kTwo>() : TheOp<kThree>();
}

}  // namespace firn::inner

namespace firn::inner::internal {

// The largest kernel side, stride, padding, dilation, pooled size and number of groups: enough for
// any image, and no sum or product of two of them overflows.
inline constexpr int64_t kMaxOption = int64_t{1} << 24;
// An error that states the bounds unless low <= value <= kMaxOption. `axis` follows the name where
// it is not empty: "kernel height 0 (want 1 to 16777216)".
absl::Status CheckOption(std::string_view name, std::string_view axis, int64_t value, int64_t low);
// `value` with a number for each of `dims` dimensions, or an error:
// "stride (1, 1, 1) has 3 numbers (want 1 or 2)".
absl::StatusOr<Sizes> FittedOption(std::string_view name, const Sizes& value, int dims);
// The same with all numbers within the bounds, or "padding (-1, 0) (want 0 to 16777216)".
absl::StatusOr<Sizes> CheckedOption(std::string_view name, const Sizes& value, int64_t low,
                                    int dims);
// The largest side of an image: an attribute may say anything, and options are added to it.
inline constexpr int64_t kMaxImage = int64_t{1} << 62;
// How many windows lie in each dimension,
//   floor((image + 2 padding - dilation (kernel - 1) - 1) / stride) + 1,
// or an error that says which size does not work. Requires: as many numbers in all, options within
// their bounds but for the kernel.
absl::StatusOr<Sizes> CountWindows(const Sizes& image, const Sizes& kernel, const Sizes& stride,
                                   const Sizes& padding, const Sizes& dilation);
// What dimension `i` of `dims` is called: "depth", "height", "width".
const char* AxisName(int i, int dims);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_PROBLEMS_IMAGES_H_

#ifndef FIRN_TENSOR_OPS_VISION_BOX_SAMPLES_H_
#define FIRN_TENSOR_OPS_VISION_BOX_SAMPLES_H_

// Boxes for the large samples of operations that take parts of images. Test code only.

#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// [count, 5]: one of `samples`, and corners of a box in an image of size x size, whose sides are
// between `least` and `most`.
inline Tensor BoxesOfSamples(int64_t count, int64_t samples, double size, double least,
                             double most) {
  const Tensor sides = Uniform({count, 2}, least, most, 2);
  const Tensor corners = Mul(Uniform({count, 2}, 0, 1, 3), Sub(size, sides));
  const Tensor sample = Integers({count, 1}, 0, static_cast<int>(samples)).To(DType::kF64);
  return Concat({sample, corners, Add(corners, sides)}, 1);
}

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_VISION_BOX_SAMPLES_H_

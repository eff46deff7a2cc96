#ifndef FIRN_TENSOR_OPS_CONV_IMAGES_SAMPLES_H_
#define FIRN_TENSOR_OPS_CONV_IMAGES_SAMPLES_H_

// Parts shared by golden cases of operations on images. Test code only.

#include "firn/tensor/sizes.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {

// An option with a number for each dimension, or one for all of them.
inline Sizes SizesFrom(GoldenArgs& args, const char* option, int64_t otherwise) {
  return Sizes(args.Ints(option, {otherwise}));
}

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_CONV_IMAGES_SAMPLES_H_

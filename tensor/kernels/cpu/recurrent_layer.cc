// Reads the sizes of a call for kernels of recurrent layers.

#include "firn/tensor/kernels/cpu/recurrent_layer.h"

namespace firn::cpu {

TimeSteps StepsOf(const Shape& x, int64_t batch, const RecurrentLayerAttrs& attrs) {
  if (attrs.batch_sizes.empty()) return {x[0], batch, nullptr, attrs.reverse};
  return {static_cast<int64_t>(attrs.batch_sizes.size()), batch, attrs.batch_sizes.data(),
          attrs.reverse};
}

}  // namespace firn::cpu

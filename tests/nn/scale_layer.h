#ifndef FIRN_TESTS_NN_SCALE_LAYER_H_
#define FIRN_TESTS_NN_SCALE_LAYER_H_

// A layer that tests of StaticModule freeze.

#include <cstdint>

#include "firn/nn/layer.h"
#include "firn/nn/static_module.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"

namespace firn::nn {

// y = x * scale
struct Scale : Layer {
  Tensor& scale = AddParameter("scale", FromVector<float>({2, 3}));

 protected:
  Tensor Forward(const Tensor& x) override { return x * scale; }
};

// Whether the call was a miss, and so captured.
inline bool Captures(StaticModule& m, const Tensor& x) {
  const int64_t before = m.misses();
  m(x);
  return m.misses() != before;
}

}  // namespace firn::nn

#endif  // FIRN_TESTS_NN_SCALE_LAYER_H_

#ifndef FIRN_TENSOR_OPS_VISION_IN_FLOAT_H_
#define FIRN_TENSOR_OPS_VISION_IN_FLOAT_H_

#include <utility>
#include <vector>

#include "firn/tensor/apply.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

// f(inputs), computed in f32 where all inputs that are given have one half type, which the result
// then has. For operations with kernels for f32 and f64 only; other dtypes are passed on, and the
// operation refuses them. Requires: the first input is defined.
template <class F>
Tensor InFloat(std::vector<Tensor> inputs, const F& f) {
  const DType dtype = inputs[0].dtype();
  bool half = dtype == DType::kF16 || dtype == DType::kBF16;
  for (const Tensor& t : inputs) half = half && (!t.defined() || t.dtype() == dtype);
  if (!half) return f(inputs);
  for (Tensor& t : inputs) {
    if (t.defined()) t = Cast(t, DType::kF32);
  }
  return Cast(f(inputs), dtype);
}

// The result of an operation of one result, computed as above.
inline Tensor ApplyInFloat(const OpDef& op, std::vector<Tensor> inputs, AttrsRef attrs) {
  return InFloat(std::move(inputs), [&](const std::vector<Tensor>& in) {
    const std::vector<TensorRef> refs(in.begin(), in.end());
    return Apply1(op, refs, attrs);
  });
}

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_VISION_IN_FLOAT_H_

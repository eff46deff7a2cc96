#ifndef FIRN_TENSOR_KERNELS_FUSED_ACTIVATION_H_
#define FIRN_TENSOR_KERNELS_FUSED_ACTIVATION_H_

#include <type_traits>
#include <utility>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {

// The activation that a kernel applies to its result.
template <FusedActivation kActivation, class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T Activate(T z) {
  if constexpr (kActivation == FusedActivation::kRelu) return z < 0 ? T(0) : z;  // NaN stays
  if constexpr (kActivation == FusedActivation::kTanh) return math::Tanh(z);
  return z;
}
// dLoss / dz from dLoss / dy and y = activation(z).
template <FusedActivation kActivation, class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T ActivationGrad(T dy, T y) {
  if constexpr (kActivation == FusedActivation::kRelu) return y <= 0 ? T(0) : dy;
  if constexpr (kActivation == FusedActivation::kTanh) return dy * (1 - y * y);
  return dy;
}

// f(std::integral_constant<FusedActivation, a>()).
template <class F>
void VisitActivation(FusedActivation a, F&& f) {
  using A = FusedActivation;
  if (a == A::kRelu) return f(std::integral_constant<A, A::kRelu>());
  if (a == A::kTanh) return f(std::integral_constant<A, A::kTanh>());
  f(std::integral_constant<A, A::kNone>());
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_FUSED_ACTIVATION_H_

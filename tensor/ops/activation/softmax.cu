// softmax, log_softmax and their gradients: see softmax.cc.

#include "firn/tensor/kernels/cuda/softmax.cuh"
#include "firn/tensor/op.h"

namespace firn::softmax_cuda {
namespace {

struct RuleSoftmax {
  static constexpr bool kProducts = true;

  template <class T>
  FIRN_HOST_DEVICE static T OfSum(T sum) {
    return 1 / sum;
  }
  template <class T>
  FIRN_HOST_DEVICE static T Result(T x, T of_sum) {
    return math::Exp(x) * of_sum;
  }
  template <class T>
  FIRN_HOST_DEVICE static T Gradient(T dy, T y, T sum) {
    return y * (dy - sum);
  }
};

struct RuleLogSoftmax {
  static constexpr bool kProducts = false;

  template <class T>
  FIRN_HOST_DEVICE static T OfSum(T sum) {
    return math::Log(sum);
  }
  template <class T>
  FIRN_HOST_DEVICE static T Result(T x, T of_sum) {
    return x - of_sum;
  }
  template <class T>
  FIRN_HOST_DEVICE static T Gradient(T dy, T y, T sum) {
    return dy - math::Exp(y) * sum;
  }
};

}  // namespace

FIRN_REGISTER_KERNELS(softmax) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = cuda::RunSoftmax<RuleSoftmax>}};
}
FIRN_REGISTER_KERNELS(softmax_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = cuda::RunSoftmaxGrad<RuleSoftmax>}};
}

FIRN_REGISTER_KERNELS(log_softmax) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = cuda::RunSoftmax<RuleLogSoftmax>}};
}
FIRN_REGISTER_KERNELS(log_softmax_grad) {
  return {
      {.name = "loop", .device = DeviceType::kCuda, .run = cuda::RunSoftmaxGrad<RuleLogSoftmax>}};
}

}  // namespace firn::softmax_cuda

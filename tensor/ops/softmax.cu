// softmax and its gradient: see softmax.cc.

#include "tensor/kernels/cuda/softmax.cuh"
#include "tensor/op.h"

namespace firn::softmax_cuda {
namespace {

struct Rule {
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

}  // namespace

FIRN_REGISTER_KERNELS(softmax) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = cuda::RunSoftmax<Rule>}};
}
FIRN_REGISTER_KERNELS(softmax_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = cuda::RunSoftmaxGrad<Rule>}};
}

}  // namespace firn::softmax_cuda

// log_softmax and its gradient: see log_softmax.cc.

#include "tensor/kernels/cuda/softmax.cuh"
#include "tensor/op.h"

namespace firn::log_softmax_cuda {
namespace {

struct Rule {
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

FIRN_REGISTER_KERNELS(log_softmax) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = cuda::RunSoftmax<Rule>}};
}
FIRN_REGISTER_KERNELS(log_softmax_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = cuda::RunSoftmaxGrad<Rule>}};
}

}  // namespace firn::log_softmax_cuda

// gelu and its gradient: one loop a dtype, with the form as a number of the call.
#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/gelu.h"
#include "tensor/ops/gelu_fn.h"

namespace firn::gelu_cuda {
namespace {

template <class Exact, class WithTanh>
struct EitherForm {
  using Attrs = GeluAttrs;
  explicit EitherForm(const GeluAttrs& a) : with_tanh(a.approximate == GeluApproximate::kTanh) {}
  template <class... T>
  FIRN_HOST_DEVICE auto operator()(T... x) const {
    return with_tanh ? WithTanh()(x...) : Exact()(x...);
  }
  bool with_tanh;
};

FIRN_REGISTER_KERNELS(gelu) { return cuda::FloatKernels<EitherForm<GeluFn, GeluTanhFn>>(); }
FIRN_REGISTER_KERNELS(gelu_grad) {
  return cuda::FloatKernels<EitherForm<GeluGradFn, GeluTanhGradFn>, 2>();
}

}  // namespace
}  // namespace firn::gelu_cuda

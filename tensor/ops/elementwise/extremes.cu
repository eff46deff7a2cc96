// clamp and its gradient: x replaces an absent bound, which is then not read, so that one loop is
// enough for all combinations.

#include "absl/container/inlined_vector.h"
#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/extremes_fn.h"

namespace firn::extremes_cuda {
namespace {

// Calls f with a context in which inputs x + 1 and x + 2 are there.
template <class F>
absl::Status WithBounds(KernelContext& k, int x, const F& f) {
  absl::InlinedVector<Operand, 4> in(k.operands_in().begin(), k.operands_in().end());
  for (int i : {x + 1, x + 2}) {
    if (!k.has(i)) in[static_cast<size_t>(i)] = in[static_cast<size_t>(x)];
  }
  KernelContext c(in, k.operands_out(), k.attrs_ref(), nullptr);
  c.set_stream(k.stream());
  return f(c);
}

ClampAnyFn FunctorOf(const KernelContext& k) { return {k.has(1), k.has(2)}; }

absl::Status Run(KernelContext& k) {
  const ClampAnyFn f = FunctorOf(k);
  return WithBounds(k, 0, [&](KernelContext& c) {
    return VisitNumeric(c.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      return cuda::ElementwiseLoop<T, T, T, T>(c, f);
    });
  });
}

// Here x may be compared as a bound: min <= x <= max holds for bounds equal to x, except for NaN,
// for which the result is 0 with any bounds.
absl::Status RunGrad(KernelContext& k) {
  return WithBounds(k, 1, [](KernelContext& c) {
    return VisitFloat(c.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      return cuda::ElementwiseLoop<T, T, T, T, T>(c, ClampGradFn());
    });
  });
}

FIRN_REGISTER_KERNELS(clamp) { return cuda::ElementwiseKernels(Run); }
FIRN_REGISTER_KERNELS(clamp_grad) { return cuda::ElementwiseKernels(RunGrad); }

}  // namespace

FIRN_REGISTER_KERNELS(maximum) { return cuda::AnyKernels<MaximumFn, 2>(); }
FIRN_REGISTER_KERNELS(maximum_grad) { return cuda::FloatKernels<MaximumGradFn, 3>(); }

FIRN_REGISTER_KERNELS(minimum) { return cuda::AnyKernels<MinimumFn, 2>(); }

}  // namespace firn::extremes_cuda

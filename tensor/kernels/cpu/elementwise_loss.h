#ifndef FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_LOSS_H_
#define FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_LOSS_H_

// The kernel of losses that compare two tensors of one shape element by element. With a reduction
// the losses are summed as they are computed and never stored.

#include <algorithm>
#include <cmath>

#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/class_loss.h"
#include "firn/tensor/kernels/cpu/elementwise.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/reduce.h"
#include "firn/tensor/kernels/cpu/reduced_elements.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/order.h"
#include "firn/tensor/problems/reduction_mode.h"

namespace firn::cpu {

namespace internal {

inline constexpr int64_t kLossBlock = 8192, kLossPiece = 512;

// The sum of f over up to kLossBlock elements.
template <class T, class F>
ComputeOf<T> SumLosses(const T* x, const T* y, int64_t n, const F& f) {
  using Acc = ComputeOf<T>;
  const SumReducer<Acc> r;
  Piece<T, kLossPiece> of_x, of_y;
  Acc total = 0, piece[kLossPiece];
  for (int64_t i = 0; i < n; i += kLossPiece) {
    const int64_t m = std::min(kLossPiece, n - i);
    const Acc *a = of_x.Read(x + i, m), *b = of_y.Read(y + i, m);
    for (int64_t j = 0; j < m; ++j) piece[j] = f(a[j], b[j]);
    total += CombineRun(r, piece, m, 1);
  }
  return total;
}

// The mean of the losses in double, for sums that left the range of their type.
template <class T, class F>
double FarMeanLoss(const T* x, const T* y, int64_t n, const F& f, double divisor) {
  using Acc = ComputeOf<T>;
  const auto wide = [](T v) { return static_cast<double>(static_cast<Acc>(v)); };
  return FarMeanOf(
      [&](const auto& add) {
        for (int64_t i = 0; i < n; ++i) add(f(wide(x[i]), wide(y[i])));
      },
      divisor);
}

}  // namespace internal

// The workspace for a Kernel whose attributes A hold `reduction`.
template <class A>
size_t ElementwiseLossWorkspace(const KernelQuery& q) {
  const int64_t blocks = q.in(0).num_elements() / internal::kLossBlock + 1;
  return LossWorkspace(blocks, q.attrs<A>().reduction);
}

// Sums take the elements in memory order if both inputs have the same layout.
template <class A>
void ElementwiseLossLayouts(const KernelQuery& q, LayoutRequest& want) {
  if (q.attrs<A>().reduction == Reduction::kNone) return;
  const int32_t order = OrderOf(q.in(0));
  if (order == OrderOf(q.in(1))) want.in[0] = want.in[1] = order;
}

// out = the losses f(x, y), or their sum or mean. F is a functor of elementwise.h with `Attrs`.
template <class F>
absl::Status RunElementwiseLoss(KernelContext& k) {
  using A = typename F::Attrs;
  const Reduction reduction = k.attrs<A>().reduction;
  const F f = MakeFunctor<F>(k);
  const TensorSpec& spec = k.in_spec(0);
  VisitFloat(spec.dtype, [&]<class T>(TypeTag<T>) {
    if (reduction == Reduction::kNone) return ElementwiseLoop<T, T, T>(k, f);
    using Acc = ComputeOf<T>;
    const int64_t n = spec.num_elements(), blocks = n / internal::kLossBlock + 1;
    const T *x = k.in<T>(0), *y = k.in<T>(1);
    Acc* sums = k.workspace<Acc>();
    ParallelFor(blocks, 2, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t from = b * internal::kLossBlock;
        const int64_t count = std::min(internal::kLossBlock, n - from);
        sums[b] = internal::SumLosses(x + from, y + from, count, f);
      }
    });
    const double divisor = LossDivisor(spec.shape, reduction);
    Acc loss = ReduceLosses(sums, blocks, divisor);
    if (divisor > 1 && !std::isfinite(loss)) [[unlikely]] {
      loss = static_cast<Acc>(internal::FarMeanLoss(x, y, n, f, divisor));
    }
    *k.out<T>() = static_cast<T>(loss);
  });
  return absl::OkStatus();
}

template <class F>
Kernel ElementwiseLossKernel() {
  return {.name = "loop",
          .workspace = ElementwiseLossWorkspace<typename F::Attrs>,
          .layouts = ElementwiseLossLayouts<typename F::Attrs>,
          .run = RunElementwiseLoss<F>};
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_LOSS_H_

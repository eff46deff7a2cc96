#ifndef FIRN_TENSOR_OPS_LOSS_NLL_LOSS_BODY_H_
#define FIRN_TENSOR_OPS_LOSS_NLL_LOSS_BODY_H_

// nll_loss: a loss for each sample, and their sum or mean. The gradient is zeros, and then an
// element for each sample. An index that names no class counts as ignored.

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/class_targets.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/index_range.h"
#include "firn/tensor/kernels/lines.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/loss/nll_loss.h"

namespace firn {

template <class T, class Range>
struct NllLossOf {
  using Acc = AccumulatorOf<T>;
  ClassTargets<T, Range> targets;
  const T* x;
  LineShape classes;

  FIRN_HOST_DEVICE Acc operator()(int64_t i) const {
    const int64_t t = targets[i];
    if (t < 0) return 0;
    return -targets.weight_of(t) * static_cast<Acc>(x[classes.offset(i) + t * classes.stride]);
  }
};

template <class T, class Range>
struct NllLossBody {
  NllLossOf<T, Range> loss;
  T* out;
  FIRN_HOST_DEVICE void operator()(int64_t i) const { out[i] = static_cast<T>(loss(i)); }
};

template <class T, class Range>
struct NllLossGradBody {
  using Acc = AccumulatorOf<T>;
  ClassTargets<T, Range> targets;
  const T* dy;
  bool each;              // dy has an element for every sample
  const double* divisor;  // null: 1
  T* dx;
  LineShape classes;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t t = targets[i];
    if (t < 0) return;
    const auto flow = static_cast<double>(dy[each ? i : 0]);
    const Acc scale = static_cast<Acc>(divisor == nullptr ? flow : flow / *divisor);
    dx[classes.offset(i) + t * classes.stride] = static_cast<T>(-targets.weight_of(t) * scale);
  }
};

struct NllLossKernel {
  static constexpr IndexSite kSite = {"nll_loss", "label"};

  template <class On>
  static size_t Workspace(const KernelQuery& q) {
    if (q.attrs<NllLossAttrs>().reduction == Reduction::kNone) return 0;
    return On::template FoldBytes<WeightedSum<double>>(q.in(1));
  }

  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const NllLossAttrs& a = k.attrs<NllLossAttrs>();
    const Shape& shape = k.in_spec(0).shape;
    const Lines lines = LinesAlong(shape, ClassDim(shape));
    const auto range = on.Indices(kSite, 0, lines.length, a.ignore_index);
    using Range = std::remove_const_t<decltype(range)>;
    return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      const NllLossOf<T, Range> loss = {{k, 1, range}, k.in<T>(0), LineShape(lines)};
      T* const out = k.out<T>();
      if (a.reduction == Reduction::kNone) {
        return on.ForEach(loss.targets.count, NllLossBody<T, Range>{loss, out});
      }
      const bool mean = a.reduction == Reduction::kMean;
      return on.Fold(k.in_spec(1), MeanFold<NllLossOf<T, Range>, T>{loss, mean, out},
                     k.workspace());
    });
  }
};

struct NllLossGradKernel {
  static constexpr IndexSite kSite = {"nll_loss_grad", "label"};
  static constexpr size_t kDivisorBytes = 64;  // at the start of the workspace

  template <class On>
  static size_t Workspace(const KernelQuery& q) {
    if (q.attrs<NllLossAttrs>().reduction != Reduction::kMean) return 0;
    return kDivisorBytes + On::template FoldBytes<double>(q.in(1));
  }

  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const NllLossAttrs& a = k.attrs<NllLossAttrs>();
    const Shape& shape = k.out_spec().shape;
    const Lines lines = LinesAlong(shape, ClassDim(shape));
    const auto range = on.Indices(kSite, 0, lines.length, a.ignore_index);
    using Range = std::remove_const_t<decltype(range)>;
    return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
      const ClassTargets<T, Range> targets(k, 1, range);
      double* divisor = nullptr;
      if (a.reduction == Reduction::kMean) {
        divisor = k.workspace<double>();
        FIRN_RETURN_IF_ERROR(on.Fold(k.in_spec(1),
                                     WeightFold<ClassTargets<T, Range>>{targets, divisor},
                                     k.workspace<char>() + kDivisorBytes));
      }
      T* const dx = k.out<T>();
      FIRN_RETURN_IF_ERROR(FillZeros(on, k.out_spec(), dx));
      const bool each = a.reduction == Reduction::kNone;
      return on.ForEach(targets.count, NllLossGradBody<T, Range>{targets, k.in<T>(0), each, divisor,
                                                                 dx, LineShape(lines)});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_NLL_LOSS_BODY_H_

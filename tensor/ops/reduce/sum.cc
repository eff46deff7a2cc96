// sum and mean over dimensions. Means whose sums left the range of their type are computed again.
//
// sum_to: composed of sum and reshape; not an operation of its own.

#include "firn/tensor/ops/reduce/sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/reduced_elements.h"
#include "firn/tensor/kernels/cpu/reduction_ops.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/reduction.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

void GradSum(GradContext& g) {
  g.set_grad_input(0, SpreadReduced(g.grad_output(), g.attrs<ReduceAttrs>(), g.input_shape(0)));
}

// Sums over matrices; other sums over all dimensions but the channels' are channel_sum's.
bool SumsChannels(AttrsRef attrs, const Shape& x) {
  const DimList& dims = attrs.get<ReduceAttrs>().dims;
  return x.rank() == 2 && dims.size() == 1 && (dims[0] == 0 || dims[0] == -2);
}
constexpr GraphTraits kSumTraits = {.sums_channels = SumsChannels};

FIRN_REGISTER_OP(sum) {
  return WithTraits(kSumTraits,
                    cpu::ReductionOp<SumReducer>("The sum over dims (empty: all).", GradSum));
}

void GradMean(GradContext& g) {
  const ReduceAttrs& a = g.attrs<ReduceAttrs>();
  const double count = static_cast<double>(ReducedCount(g.input_shape(0), a));
  g.set_grad_input(0, SpreadReduced(MulInFloat(g.grad_output(), 1 / count), a, g.input_shape(0)));
}

// Whether any of n is infinite or NaN: one comparison of integers for each, so that it costs next
// to nothing.
template <class T>
bool AnyNotFinite(const T* v, int64_t n) {
  using Bits = BitsOf<T>;
  constexpr Bits kAllButSign = static_cast<Bits>(static_cast<Bits>(-1) >> 1);
  Bits top = 0;
  for (int64_t i = 0; i < n; ++i) {
    top = std::max(top, static_cast<Bits>(std::bit_cast<Bits>(v[i]) & kAllButSign));
  }
  return !std::isfinite(static_cast<AccumulatorOf<T>>(std::bit_cast<T>(top)));
}

template <class T>
void Rescale(KernelContext& k) {
  using Acc = AccumulatorOf<T>;
  if (std::is_same_v<T, Half>) return;  // f32 holds sums of any
  T* const means = k.out<T>();
  const int64_t n = k.out_spec(0).num_elements();
  const auto rescale = [&](int64_t begin, int64_t end) {
    if (!AnyNotFinite(means + begin, end - begin)) [[likely]]
      return;
    const ReducePlan plan = PlanReduction(k.in_spec(0), k.attrs<ReduceAttrs>().dims);
    for (int64_t j = begin; j < end; ++j) {
      if (std::isfinite(static_cast<Acc>(means[j]))) continue;
      const double mean =
          cpu::FarMeanOf([&](const auto& f) { cpu::ForEachReduced(plan, k.in<T>(0), j, f); },
                         static_cast<double>(plan.reduced));
      means[j] = static_cast<T>(static_cast<Acc>(mean));
    }
  };
  constexpr int64_t kPart = 1 << 14;
  n <= kPart ? rescale(0, n) : ParallelFor(n, kPart, rescale);
}

absl::Status RunMean(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(cpu::internal::RunReduction<MeanReducer>(k));
  if (k.in_spec(0).num_elements() == 0) return absl::OkStatus();  // NaN all
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { Rescale<T>(k); });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(mean) {
  OpDef op = cpu::ReductionOp<MeanReducer>("The mean over dims (empty: all).", GradMean);
  op.kernels[0].run = RunMean;
  return op;
}

}  // namespace

Tensor Sum(const Tensor& x, const DimList& dims, Flag keepdim) {
  return Apply1(TheOp<"sum">(), {x}, ReduceAttrs{dims, keepdim});
}

Tensor Mean(const Tensor& x, const DimList& dims, Flag keepdim) {
  return Apply1(TheOp<"mean">(), {x}, ReduceAttrs{dims, keepdim});
}

Tensor SumTo(const Tensor& x, const Shape& shape) {
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), "sum_to");
  if (x.shape() == shape) return x;
  if (!BroadcastsTo(shape, x.shape())) {
    RaiseStatus(
        InvalidArgument("x ", x.shape().ToString(), " was not broadcast from ", shape.ToString()),
        "sum_to");
  }
  const int lead = x.rank() - shape.rank();
  DimList dims;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < lead || (shape[i - lead] == 1 && x.shape()[i] != 1)) dims.push_back(i);
  }
  return Reshape(dims.empty() ? x : Sum(x, dims, true), shape);
}

}  // namespace firn

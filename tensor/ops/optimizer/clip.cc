// clip_grad_norm: one pass that reads for the norm and, when it is too large, one that scales.
//
// Each block of elements has a partial sum of its own, in f64, and the sums are added in the order
// of the blocks: the norm depends neither on timing nor on the number of threads.
//
// clip_grad_value: one pass over the elements of all tensors.

#include "firn/tensor/ops/optimizer/clip.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/multi_tensor.h"
#include "firn/tensor/kernels/cpu/reduced_elements.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/optimizer/clip_fn.h"

namespace firn {
namespace {

absl::Status InferClipGradNorm(InferContext& c) {
  const ClipGradNormAttrs& a = c.attrs<ClipGradNormAttrs>();
  FIRN_RETURN_IF(!(a.max_norm >= 0), InvalidArgument("max_norm is ", a.max_norm,
                                                     " (want a number that is not ", "negative)"));
  FIRN_RETURN_IF(!(a.p > 0), InvalidArgument("p is ", a.p, " (want a positive number)"));
  c.set_out(0, c.dtype(0) == DType::kF64 ? DType::kF64 : DType::kF32, Shape());
  return absl::OkStatus();
}

size_t NumBlocks(int64_t elements, int tensors) {
  // Counts every tensor's last block as whole: at least as many as TensorSeries makes.
  return static_cast<size_t>(elements / cpu::kMultiTensorBlock + tensors);
}

size_t WorkspaceBytes(const KernelQuery& q) {
  int64_t elements = 0;
  for (int i = 0; i < q.num_inputs(); ++i) elements += q.in(i).num_elements();
  return NumBlocks(elements, q.num_inputs()) * sizeof(double);
}

// The sum of `term` over the elements. It uses four sums, of a quarter of the elements each,
// because an addition waits for the one before it in its sum.
template <class C, class F>
double SumOf(const C* x, int64_t n, const F& term) {
  const int64_t part = n / 4;
  double a = 0, b = 0, c = 0, d = 0;
  FIRN_SUMS_IN_ANY_ORDER(a, b, c, d)
  for (int64_t i = 0; i < part; ++i) {
    a += term(static_cast<double>(x[i]));
    b += term(static_cast<double>(x[part + i]));
    c += term(static_cast<double>(x[2 * part + i]));
    d += term(static_cast<double>(x[3 * part + i]));
  }
  for (int64_t i = 4 * part; i < n; ++i) a += term(static_cast<double>(x[i]));
  return (a + b) + (c + d);
}

// sum |x / over|^p, or, for p = infinity, max |x|.
template <class C>
double PartialNorm(const C* x, int64_t n, double p, double over) {
  if (over != 1 && !std::isinf(p)) {
    return SumOf(x, n, [=](double v) { return std::pow(std::abs(v) / over, p); });
  }
  if (p == 2) return SumOf(x, n, [](double v) { return v * v; });
  if (p == 1) return SumOf(x, n, [](double v) { return std::abs(v); });
  double sum = 0;
  const bool largest = std::isinf(p);
  for (int64_t i = 0; i < n; ++i) {
    const double v = std::abs(static_cast<double>(x[i]));
    if (largest) {
      sum = v > sum || std::isnan(v) ? v : sum;
      if (std::isnan(v)) break;  // no later element may win over it
    } else {
      sum += std::pow(v, p);
    }
  }
  return sum;
}

// The norm of all elements over `over`.
double TotalNorm(const KernelContext& k, const cpu::TensorSeries& series, double p,
                 double over = 1) {
  const PartialNormFn norm = {p};
  double* partial = k.workspace<double>();
  ParallelFor(series.num_blocks(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      partial[b] = 0;
      series.VisitBlock(b, [&](int i, int64_t from, int64_t to) {
        VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) {
          cpu::ForEachStripAs<ComputeOf<T>>(
              k.in<T>(i) + from, to - from, [&](const auto* x, int64_t, int64_t n) {
                partial[b] = norm(partial[b], PartialNorm(x, n, p, over));
              });
        });
      });
    }
  });
  double total = 0;
  for (int64_t b = 0; b < series.num_blocks(); ++b) total = norm(total, partial[b]);
  return norm.Root(total);
}

// The same where powers leave the range of double, too: then those of elements over the largest.
double NormInRange(const KernelContext& k, const cpu::TensorSeries& series, double p) {
  const double norm = TotalNorm(k, series, p);
  const double least = std::isinf(p) ? 0 : std::pow(cpu::kLeastSum<double>, 1 / p);
  if (!(norm < least) && norm <= std::numeric_limits<double>::max()) return norm;
  const double top = TotalNorm(k, series, std::numeric_limits<double>::infinity());
  if (!(top > 0 && top <= std::numeric_limits<double>::max())) return norm;
  return TotalNorm(k, series, p, top) * top;
}

// Whether all numbers of T stay the same when multiplied by the factor and rounded: each changes by
// at most half a unit of its last place, and a tie is rounded to the even number, which it is.
template <class T>
bool LeavesAll(double factor) {
  constexpr int kDigits = std::is_same_v<T, Half>       ? 11
                          : std::is_same_v<T, BFloat16> ? 8
                                                        : std::numeric_limits<ComputeOf<T>>::digits;
  return 1 - factor <= std::ldexp(1.0, -kDigits - 1);
}

absl::Status RunClipGradNorm(KernelContext& k) {
  const ClipGradNormAttrs& a = k.attrs<ClipGradNormAttrs>();
  const cpu::TensorSeries series(k, 0, 1);
  const double norm = NormInRange(k, series, a.p);
  if (k.out_spec().dtype == DType::kF64) {
    *k.out<double>() = norm;
  } else {
    *k.out<float>() = static_cast<float>(norm);
  }
  const double factor = ClipFactor(a.max_norm, norm);
  if (factor >= 1) return absl::OkStatus();  // not for NaN, which turns all elements into NaN
  series.ForEachPiece([&](int i, int64_t begin, int64_t end) {
    VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) {
      if (LeavesAll<T>(factor)) return;
      using C = ComputeOf<T>;
      const C scale = static_cast<C>(factor);
      cpu::MapElements(k.inout<T>(i) + begin, end - begin, [scale](C v) { return v * scale; });
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(clip_grad_norm) {
  return {
      .doc = "Scales tensors in place to a joint norm of at most max_norm. Not differentiable.",
      .inputs = {{.name = "grads", .dtypes = kFloating, .inout = true, .variadic = true}},
      .outputs = {{"total_norm"}},
      .attrs = AttrsOf<ClipGradNormAttrs>(),
      .infer = InferClipGradNorm,
      .kernels = {{.name = "loop", .workspace = WorkspaceBytes, .run = RunClipGradNorm}},
  };
}

absl::Status InferClipGradValue(InferContext& c) {
  const double limit = c.attrs<ClipGradValueAttrs>().limit;
  FIRN_RETURN_IF(!(limit >= 0),
                 InvalidArgument("limit is ", limit, " (want a number that is not negative)"));
  return absl::OkStatus();
}

absl::Status RunClipGradValue(KernelContext& k) {
  const double limit = k.attrs<ClipGradValueAttrs>().limit;
  cpu::TensorSeries(k, 0, 1).ForEachPiece([&](int i, int64_t begin, int64_t end) {
    VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) {
      using C = ComputeOf<T>;
      const C high = static_cast<C>(limit), low = -high;
      cpu::MapElements(k.inout<T>(i) + begin, end - begin, [=](C v) {
        const C above = v > high ? high : v;
        return above < low ? low : above;
      });
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(clip_grad_value) {
  return {
      .doc = "Cuts elements off at -limit and limit, in place. Not differentiable.",
      .inputs = {{.name = "grads", .dtypes = kFloating, .inout = true, .variadic = true}},
      .attrs = AttrsOf<ClipGradValueAttrs>(),
      .infer = InferClipGradValue,
      .kernels = {{.name = "loop", .run = RunClipGradValue}},
  };
}

}  // namespace

Tensor inner::ClipGradNorm(const std::vector<Tensor>& grads, double max_norm, double p) {
  const std::vector<TensorRef> in(grads.begin(), grads.end());
  return Apply1(TheOp<"clip_grad_norm">(), in, ClipGradNormAttrs{.max_norm = max_norm, .p = p});
}

void inner::ClipGradValue(const std::vector<Tensor>& grads, double limit) {
  const std::vector<TensorRef> in(grads.begin(), grads.end());
  Apply(TheOp<"clip_grad_value">(), in, ClipGradValueAttrs{.limit = limit});
}

}  // namespace firn

// cumsum: running sums along one dimension. The gradient of element i sums over all results that
// contain it, so it is the running sum in the other direction.

#include "tensor/ops/scan/cumulative.h"

#include <type_traits>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/lines.h"
#include "tensor/op.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDim(c.attrs<CumsumAttrs>().dim, c.shape(0)).status());
  c.set_out(0, IsFloating(c.dtype(0)) ? c.dtype(0) : DType::kI64, c.shape(0));
  return absl::OkStatus();
}

// A sum of many floats loses digits in float.
template <class T>
using SumOf = std::conditional_t<
    std::is_integral_v<T>, int64_t,
    std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, double>, double, float>>;

template <class T, class Out>
void RunStrip(const cpu::Strip& s, const CumsumAttrs& a, const T* x, Out* y) {
  SumOf<T> sum[cpu::kStripWidth] = {};
  for (int64_t i = 0; i < s.length; ++i) {
    const int64_t row = s.offset + (a.reverse ? s.length - 1 - i : i) * s.stride;
    for (int64_t c = 0; c < s.width; ++c) {
      const SumOf<T> before = sum[c];
      sum[c] += static_cast<SumOf<T>>(x[row + c]);
      y[row + c] = static_cast<Out>(a.exclusive ? before : sum[c]);
    }
  }
}

absl::Status Run(KernelContext& k) {
  const CumsumAttrs& a = k.attrs<CumsumAttrs>();
  const Lines lines = LinesAlong(k.in_spec(0).shape, a.dim);
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Out = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    const T* x = k.in<T>(0);
    Out* y = k.out<Out>();
    cpu::ForEachStrip(lines, [&](const cpu::Strip& s) { RunStrip(s, a, x, y); });
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const CumsumAttrs& a = g.attrs<CumsumAttrs>();
  g.set_grad_input(0, Cumsum(g.grad_output(), a.dim, {a.exclusive, !a.reverse}));
}

FIRN_REGISTER_OP(cumsum) {
  return {
      .doc = "Running sums along dim.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<CumsumAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor Cumsum(const Tensor& x, int64_t dim, const CumsumOptions& options) {
  return Apply1(TheOp<"cumsum">(), {x}, CumsumAttrs{dim, options.exclusive, options.reverse});
}

}  // namespace firn

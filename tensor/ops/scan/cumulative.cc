// cumsum: running sums along one dimension. The gradient of element i sums over all results that
// contain it, so it is the running sum in the other direction.
//
// cumprod: what flows into x_i is the product P_i of those before it times the sum S_i over all
// results k from i on, dy_k times the product of those between i and k. S_i = dy_i + x_(i + 1)
// S_(i + 1) is linear_scan from the other end; the gradient of one such scan is another.

#include "tensor/ops/scan/cumulative.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "tensor/apply.h"
#include "tensor/infer.h"
#include "tensor/kernels/cpu/lines.h"
#include "tensor/op.h"
#include "tensor/ops/create/constant.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/shape/pad.h"

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

// Sums, or products.
template <bool kProducts, class T, class Out>
void RunStrip(const cpu::Strip& s, const CumsumAttrs& a, const T* x, Out* y) {
  SumOf<T> total[cpu::kStripWidth];
  std::fill_n(total, s.width, SumOf<T>(kProducts ? 1 : 0));
  for (int64_t i = 0; i < s.length; ++i) {
    const int64_t row = s.offset + (a.reverse ? s.length - 1 - i : i) * s.stride;
    for (int64_t c = 0; c < s.width; ++c) {
      const SumOf<T> before = total[c], v = static_cast<SumOf<T>>(x[row + c]);
      total[c] = kProducts ? before * v : before + v;
      y[row + c] = static_cast<Out>(a.exclusive ? before : total[c]);
    }
  }
}

template <bool kProducts>
absl::Status Run(KernelContext& k) {
  const CumsumAttrs& a = k.attrs<CumsumAttrs>();
  const Lines lines = LinesAlong(k.in_spec(0).shape, a.dim);
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Out = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    const T* x = k.in<T>(0);
    Out* y = k.out<Out>();
    cpu::ForEachStrip(lines, [&](const cpu::Strip& s) { RunStrip<kProducts>(s, a, x, y); });
  });
  return absl::OkStatus();
}

OpDef CumulativeOp(std::string_view doc, absl::Status (*run)(KernelContext&), GradFn grad) {
  return {
      .doc = doc,
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<CumsumAttrs>(),
      .infer = Infer,
      .grad = grad,
      .kernels = {{.name = "loop", .run = run}},
  };
}

void GradCumsum(GradContext& g) {
  const CumsumAttrs& a = g.attrs<CumsumAttrs>();
  g.set_grad_input(0, Cumsum(g.grad_output(), a.dim, {a.exclusive, !a.reverse}));
}
FIRN_REGISTER_OP(cumsum) { return CumulativeOp("Running sums along dim.", Run<false>, GradCumsum); }

// Every element's neighbour along dim, the one after it or the one before it; 0 at the end.
Tensor Neighbours(const Tensor& x, int64_t dim, bool after) {
  if (x.rank() == 0) return ZerosLike(x);
  std::vector<int64_t> pad(2 * static_cast<size_t>(x.rank() - *NormalizeDim(dim, x.shape())), 0);
  pad[pad.size() - 2] = after ? -1 : 1;
  pad[pad.size() - 1] = after ? 1 : -1;
  return Pad(x, pad);
}

void GradCumprod(GradContext& g) {
  const CumsumAttrs& a = g.attrs<CumsumAttrs>();
  const Tensor &dy = g.grad_output(), &x = g.input(0);
  const Tensor flow = a.exclusive ? Neighbours(dy, a.dim, !a.reverse) : dy;
  const Tensor after = LinearScan(x, flow, {.dim = a.dim, .reverse = !a.reverse, .previous = true});
  const Tensor before = Cumprod(x, a.dim, {.exclusive = true, .reverse = a.reverse});
  g.set_grad_input(0, Mul(before, after));
}
FIRN_REGISTER_OP(cumprod) {
  OpDef op = CumulativeOp("Running products along dim.", Run<true>, GradCumprod);
  op.saves = {Saved::Input(0)};
  return op;
}

absl::Status InferLinearScan(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDim(c.attrs<LinearScanAttrs>().dim, c.shape(0)).status());
  FIRN_RETURN_IF(c.shape(0) != c.shape(1), InvalidArgument("a ", c.in(0).ToString(), " and b ",
                                                           c.in(1).ToString(), " differ in shape"));
  return InferLikeInput(c);
}

template <class T>
void RunScanStrip(const cpu::Strip& s, const LinearScanAttrs& attrs, const T* a, const T* b, T* y) {
  SumOf<T> sum[cpu::kStripWidth] = {};
  int64_t last = 0;
  for (int64_t i = 0; i < s.length; ++i) {
    const int64_t row = s.offset + (attrs.reverse ? s.length - 1 - i : i) * s.stride;
    const T* const factors = a + (attrs.previous && i > 0 ? last : row);
    for (int64_t c = 0; c < s.width; ++c) {
      // There is nothing before the first, whatever its factor.
      const SumOf<T> before = i == 0 ? 0 : static_cast<SumOf<T>>(factors[c]) * sum[c];
      sum[c] = static_cast<SumOf<T>>(b[row + c]) + before;
      y[row + c] = static_cast<T>(sum[c]);
    }
    last = row;
  }
}
absl::Status RunLinearScan(KernelContext& k) {
  const LinearScanAttrs& attrs = k.attrs<LinearScanAttrs>();
  const Lines lines = LinesAlong(k.in_spec(0).shape, attrs.dim);
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    cpu::ForEachStrip(lines, [&](const cpu::Strip& s) {
      RunScanStrip(s, attrs, k.in<T>(0), k.in<T>(1), k.out<T>());
    });
  });
  return absl::OkStatus();
}

// The transpose of a scan runs from the other end, with the factor on the other side of the step.
void GradLinearScan(GradContext& g) {
  const LinearScanAttrs& s = g.attrs<LinearScanAttrs>();
  const Tensor flow = LinearScan(g.input(0), g.grad_output(),
                                 {.dim = s.dim, .reverse = !s.reverse, .previous = !s.previous});
  g.set_grad_input(1, flow);
  if (!g.needs(0)) return;
  const Tensor& y = g.output(0);
  g.set_grad_input(0, s.previous ? Mul(y, Neighbours(flow, s.dim, !s.reverse))
                                 : Mul(flow, Neighbours(y, s.dim, s.reverse)));
}
FIRN_REGISTER_OP(linear_scan) {
  return {
      .doc = "s_i = b_i + a_i s_(i - 1) along dim: what the gradient of cumprod is made of.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "a", .dtypes = kFloating}, {.name = "b", .same_dtype_as = "a"}},
      .outputs = {{.name = "s"}},
      .attrs = AttrsOf<LinearScanAttrs>(),
      .infer = InferLinearScan,
      .grad = GradLinearScan,
      .saves = {Saved::Input(0), Saved::Output(0)},
      .kernels = {{.name = "loop", .run = RunLinearScan}},
  };
}

}  // namespace

Tensor Cumsum(const Tensor& x, int64_t dim, const CumsumOptions& options) {
  return Apply1(TheOp<"cumsum">(), {x}, CumsumAttrs{dim, options.exclusive, options.reverse});
}

Tensor Cumprod(const Tensor& x, int64_t dim, const CumprodOptions& options) {
  return Apply1(TheOp<"cumprod">(), {x}, CumsumAttrs{dim, options.exclusive, options.reverse});
}

Tensor inner::LinearScan(const Tensor& a, const Tensor& b, const LinearScanAttrs& attrs) {
  return Apply1(TheOp<"linear_scan">(), {a, b}, attrs);
}

}  // namespace firn

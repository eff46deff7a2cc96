// cumsum: running sums along one dimension. The gradient of element i sums over all results that
// contain it, so it is the running sum in the other direction.
// cumprod: the gradient of x_i is the product P_i of those before it times the sum S_i over all
// results k from i on, dy_k times the product of those between i and k. S_i = dy_i + x_(i + 1)
// S_(i + 1) is linear_scan from the other end; the gradient of one such scan is another.

#include "firn/tensor/ops/scan/cumulative.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "firn/device/macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/infer.h"
#include "firn/tensor/kernels/cpu/lines.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/pad.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDim(c.attrs<CumsumAttrs>().dim, c.shape(0)).status());
  c.set_out(0, IsFloating(c.dtype(0)) ? c.dtype(0) : DType::kI64, c.shape(0));
  return absl::OkStatus();
}

// Lines along the last dimension are walked several at a time, so that an addition need not wait
// for the one before it, and in pieces, which may have to be converted.
constexpr int kTogether = 4;
constexpr int64_t kPiece = 256;
static_assert(kPiece >= cpu::kStripWidth);

// Calls f(integral_constant<int, lines>, first) for groups of `outer` lines, in parallel.
template <class F>
void ForEachGroup(int64_t outer, int64_t length, const F& f) {
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, kTogether * length));
  ParallelFor((outer + kTogether - 1) / kTogether, grain, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      int64_t line = group * kTogether;
      const int64_t last = std::min(outer, line + kTogether);
      if (last - line == kTogether) {
        f(std::integral_constant<int, kTogether>(), line);
      } else {
        for (; line < last; ++line) f(std::integral_constant<int, 1>(), line);
      }
    }
  });
}

// Calls f(at, n) for the pieces of a line, from one end to the other.
template <class F>
void ForEachPiece(int64_t length, bool reverse, const F& f) {
  for (int64_t done = 0; done < length; done += kPiece) {
    const int64_t n = std::min(kPiece, length - done);
    f(reverse ? length - done - n : done, n);
  }
}

template <bool kProducts, class Sum>
FIRN_ALWAYS_INLINE Sum Step(Sum before, Sum v) {
  return kProducts ? before * v : before + v;
}

template <bool kProducts, int kLines, class Sum, class T, class Out>
void RunPieces(const CumsumAttrs& a, int64_t n, const T* const (&from)[kLines],
               Out* const (&to)[kLines], Sum (&total)[kLines]) {
  Sum sum[kLines];  // nothing has its address: so it stays in registers
#pragma GCC unroll 4
  for (int l = 0; l < kLines; ++l) sum[l] = total[l];
  const bool exclusive = a.exclusive;
  const int64_t step = a.reverse ? -1 : 1;
  for (int64_t m = 0, i = a.reverse ? n - 1 : 0; m < n; ++m, i += step) {
#pragma GCC unroll 4
    for (int l = 0; l < kLines; ++l) {
      const Sum before = sum[l];
      sum[l] = Step<kProducts>(before, static_cast<Sum>(from[l][i]));
      to[l][i] = static_cast<Out>(exclusive ? before : sum[l]);
    }
  }
#pragma GCC unroll 4
  for (int l = 0; l < kLines; ++l) total[l] = sum[l];
}

template <bool kProducts, int kLines, class Sum, class T, class Out>
void RunLines(const CumsumAttrs& a, int64_t first, int64_t length, const cpu::RowsIn<T>& x,
              const cpu::RowsOut<Out>& y) {
  Sum total[kLines];
  std::fill_n(total, kLines, Sum(kProducts ? 1 : 0));
  T elements[kLines][kPiece];
  Out results[kLines][kPiece];
  ForEachPiece(length, a.reverse, [&](int64_t at, int64_t n) {
    const T* from[kLines];
    Out* to[kLines];
    for (int l = 0; l < kLines; ++l) {
      const int64_t i = (first + l) * length + at;
      from[l] = x.At(i, n, elements[l]);
      to[l] = y.At(i, results[l]);
    }
    RunPieces<kProducts>(a, n, from, to, total);
    for (int l = 0; l < kLines; ++l) y.Done((first + l) * length + at, n, results[l]);
  });
}

// Lines this short are not worth pieces of their own: a processor works on several by itself.
constexpr int64_t kShortLine = 16;

// Lines from `first` on, kPiece elements at most.
template <bool kProducts, class Sum, class T, class Out>
void RunShortLines(const CumsumAttrs& a, int64_t first, int64_t lines, int64_t length,
                   const cpu::RowsIn<T>& x, const cpu::RowsOut<Out>& y) {
  T elements[kPiece];
  Out results[kPiece];
  const int64_t at = first * length, n = lines * length;
  const T* const from = x.At(at, n, elements);
  Out* const to = y.At(at, results);
  const bool exclusive = a.exclusive;
  const int64_t step = a.reverse ? -1 : 1;
  for (int64_t begin = 0; begin < n; begin += length) {
    Sum sum = kProducts ? 1 : 0;
    for (int64_t m = 0, i = a.reverse ? begin + length - 1 : begin; m < length; ++m, i += step) {
      const Sum before = sum;
      sum = Step<kProducts>(before, static_cast<Sum>(from[i]));
      to[i] = static_cast<Out>(exclusive ? before : sum);
    }
  }
  y.Done(at, n, to);
}

template <bool kProducts, class Sum, class T, class Out>
void RunStrip(const cpu::Strip& s, const CumsumAttrs& a, const cpu::RowsIn<T>& x,
              const cpu::RowsOut<Out>& y) {
  Sum total[cpu::kStripWidth];
  std::fill_n(total, s.width, Sum(kProducts ? 1 : 0));
  T elements[kPiece];
  Out results[kPiece];
  // Narrow rows with nothing between them are fetched several at a time.
  const int64_t most = s.width == s.stride ? kPiece / s.width : 1;
  for (int64_t done = 0; done < s.length; done += most) {
    const int64_t rows = std::min(most, s.length - done);
    const int64_t first = a.reverse ? s.length - done - rows : done;
    const int64_t at = s.offset + first * s.stride, n = (rows - 1) * s.stride + s.width;
    const T* const tile = x.At(at, n, elements);
    Out* const to_tile = y.At(at, results);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t row = (a.reverse ? rows - 1 - i : i) * s.stride;
      const T* const from = tile + row;
      Out* const to = to_tile + row;
      FIRN_INDEPENDENT_STEPS
      for (int64_t c = 0; c < s.width; ++c) {
        const Sum before = total[c];
        total[c] = Step<kProducts>(before, static_cast<Sum>(from[c]));
        to[c] = static_cast<Out>(a.exclusive ? before : total[c]);
      }
    }
    y.Done(at, n, results);
  }
}

// Sums, or products, in the type Sum, of elements that are read as T and written as Out.
template <bool kProducts, class Sum, class T, class Out>
void RunAs(KernelContext& k) {
  const CumsumAttrs& a = k.attrs<CumsumAttrs>();
  const Lines lines = LinesAlong(k.in_spec(0).shape, a.dim);
  const cpu::RowsIn<T> x(k, 0);
  const cpu::RowsOut<Out> y(k, 0);
  if (lines.inner == 1 && lines.length > 0 && lines.length <= kShortLine) {
    const int64_t most = kPiece / lines.length;
    return ParallelFor(CeilDiv(lines.outer, most), 32, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin * most; line < std::min(lines.outer, end * most); line += most) {
        RunShortLines<kProducts, Sum>(a, line, std::min(most, lines.outer - line), lines.length, x,
                                      y);
      }
    });
  }
  if (lines.inner == 1) {
    return ForEachGroup(lines.outer, lines.length, [&](auto together, int64_t first) {
      RunLines<kProducts, together(), Sum>(a, first, lines.length, x, y);
    });
  }
  cpu::ForEachStrip(lines, [&](const cpu::Strip& s) { RunStrip<kProducts, Sum>(s, a, x, y); });
}

template <bool kProducts>
absl::Status Run(KernelContext& k) {
  const DType dtype = k.in_spec(0).dtype;
  if (dtype == DType::kF16 || dtype == DType::kBF16) {
    RunAs<kProducts, float, float, float>(k);
  } else {
    VisitDType(dtype, [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_integral_v<T>) {
        RunAs<kProducts, int64_t, T, int64_t>(k);
      } else if constexpr (std::is_floating_point_v<T>) {
        RunAs<kProducts, double, T, T>(k);  // a sum of many floats loses digits in float
      }
    });
  }
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

// Computed in a wider type, because products of some elements may leave the range where those of
// all do not: half types in f32, and f32 in f64 where this is differentiated again.
void GradCumprod(GradContext& g) {
  const CumsumAttrs& a = g.attrs<CumsumAttrs>();
  const DType dtype = g.input(0).dtype();
  const DType wide = GradEnabled() && dtype == DType::kF32 ? DType::kF64 : ComputeDType(dtype);
  const Tensor dy = Cast(g.grad_output(), wide), x = Cast(g.input(0), wide);
  const Tensor flow = a.exclusive ? Neighbours(dy, a.dim, !a.reverse) : dy;
  const Tensor after = LinearScan(x, flow, {.dim = a.dim, .reverse = !a.reverse, .previous = true});
  const Tensor before = Cumprod(x, a.dim, {.exclusive = true, .reverse = a.reverse});
  g.set_grad_input(0, Cast(Mul(before, after), dtype));
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

// The state of a scan along one line: s_i, and the factor at i.
template <class Sum>
struct ScanState {
  Sum sum = 0, factor = 0;
};

template <bool kPrevious, int kLines, class Sum, class T>
void ScanPieces(int64_t n, int64_t step, const T* const (&a)[kLines], const T* const (&b)[kLines],
                T* const (&y)[kLines], ScanState<Sum> (&state)[kLines]) {
  ScanState<Sum> s[kLines];  // nothing has its address: so it stays in registers
#pragma GCC unroll 4
  for (int l = 0; l < kLines; ++l) s[l] = state[l];
  for (int64_t m = 0, i = 0; m < n; ++m, i += step) {
#pragma GCC unroll 4
    for (int l = 0; l < kLines; ++l) {
      const Sum factor = static_cast<Sum>(a[l][i]), before = kPrevious ? s[l].factor : factor;
      s[l] = {static_cast<Sum>(b[l][i]) + before * s[l].sum, factor};
      y[l][i] = static_cast<T>(s[l].sum);
    }
  }
#pragma GCC unroll 4
  for (int l = 0; l < kLines; ++l) state[l] = s[l];
}

// The scan of lines from `first` on.
template <int kLines, class Sum, class T>
void ScanLines(const LinearScanAttrs& attrs, int64_t first, int64_t length, const cpu::RowsIn<T>& a,
               const cpu::RowsIn<T>& b, const cpu::RowsOut<T>& y) {
  ScanState<Sum> state[kLines];
  T tile_a[kLines][kPiece], tile_b[kLines][kPiece], tile_y[kLines][kPiece];
  bool begun = false;
  ForEachPiece(length, attrs.reverse, [&](int64_t at, int64_t n) {
    const T *pa[kLines], *pb[kLines];
    T* py[kLines];
    const int64_t end = attrs.reverse ? n - 1 : 0, step = attrs.reverse ? -1 : 1;
    int64_t skip = 0;
    for (int l = 0; l < kLines; ++l) {
      const int64_t i = (first + l) * length + at;
      pa[l] = a.At(i, n, tile_a[l]) + end;
      pb[l] = b.At(i, n, tile_b[l]) + end;
      py[l] = y.At(i, tile_y[l]) + end;
      if (begun) continue;  // there is nothing before the first, whatever its factor
      state[l] = {static_cast<Sum>(*pb[l]), static_cast<Sum>(*pa[l])};
      *py[l] = *pb[l];
      pa[l] += step, pb[l] += step, py[l] += step;
      skip = 1;
    }
    begun = true;
    attrs.previous ? ScanPieces<true>(n - skip, step, pa, pb, py, state)
                   : ScanPieces<false>(n - skip, step, pa, pb, py, state);
    for (int l = 0; l < kLines; ++l) y.Done((first + l) * length + at, n, tile_y[l]);
  });
}

template <class Sum, class T>
void ScanStrip(const cpu::Strip& s, const LinearScanAttrs& attrs, const cpu::RowsIn<T>& a,
               const cpu::RowsIn<T>& b, const cpu::RowsOut<T>& y) {
  Sum sum[cpu::kStripWidth] = {};
  T tile_a[cpu::kStripWidth], tile_b[cpu::kStripWidth], tile_y[cpu::kStripWidth];
  int64_t last = 0;
  for (int64_t i = 0; i < s.length; ++i) {
    const int64_t row = s.offset + (attrs.reverse ? s.length - 1 - i : i) * s.stride;
    const T* const factors = a.At(attrs.previous && i > 0 ? last : row, s.width, tile_a);
    const T* const terms = b.At(row, s.width, tile_b);
    T* const to = y.At(row, tile_y);
    FIRN_INDEPENDENT_STEPS
    for (int64_t c = 0; c < s.width; ++c) {
      const Sum before = i == 0 ? 0 : static_cast<Sum>(factors[c]) * sum[c];
      sum[c] = static_cast<Sum>(terms[c]) + before;
      to[c] = static_cast<T>(sum[c]);
    }
    y.Done(row, s.width, tile_y);
    last = row;
  }
}

template <class Sum, class T>
void ScanAs(KernelContext& k) {
  const LinearScanAttrs& attrs = k.attrs<LinearScanAttrs>();
  const Lines lines = LinesAlong(k.in_spec(0).shape, attrs.dim);
  const cpu::RowsIn<T> a(k, 0), b(k, 1);
  const cpu::RowsOut<T> y(k, 0);
  if (lines.inner == 1) {
    return ForEachGroup(lines.outer, lines.length, [&](auto together, int64_t first) {
      ScanLines<together(), Sum>(attrs, first, lines.length, a, b, y);
    });
  }
  cpu::ForEachStrip(lines, [&](const cpu::Strip& s) { ScanStrip<Sum>(s, attrs, a, b, y); });
}

absl::Status RunLinearScan(KernelContext& k) {
  const DType dtype = k.in_spec(0).dtype;
  if (dtype == DType::kF64) {
    ScanAs<double, double>(k);
  } else if (dtype == DType::kF32) {
    ScanAs<double, float>(k);
  } else {
    ScanAs<float, float>(k);
  }
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

Tensor Cumsum(const Tensor& x, Integer dim, const CumsumOptions& options) {
  return Apply1(TheOp<"cumsum">(), {x}, CumsumAttrs{dim, options.exclusive, options.reverse});
}

Tensor Cumprod(const Tensor& x, Integer dim, const CumprodOptions& options) {
  return Apply1(TheOp<"cumprod">(), {x}, CumsumAttrs{dim, options.exclusive, options.reverse});
}

Tensor inner::Neighbours(const Tensor& x, int64_t dim, bool after) {
  if (x.rank() == 0) return ZerosLike(x);
  std::vector<int64_t> pad(2 * static_cast<size_t>(x.rank() - *NormalizeDim(dim, x.shape()) - 1));
  pad.insert(pad.end(), {after ? -1 : 1, after ? 1 : -1});
  return Pad(x, pad);
}

Tensor inner::LinearScan(const Tensor& a, const Tensor& b, const LinearScanAttrs& attrs) {
  return Apply1(TheOp<"linear_scan">(), {a, b}, attrs);
}

}  // namespace firn

// max_pool1d, 2d, 3d, with fixed and adaptive windows. The gradient is a scatter through the
// indices (max_unpool.cc).
//
// Indices count positions in the channel's image and are i32 inside; they lie in the layout of the
// values, so a blocked tensor's lanes find theirs side by side.

#include "tensor/ops/pool/max_pool.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/half.h"
#include "tensor/kernels/cpu/planes.h"
#include "tensor/kernels/divide.h"
#include "tensor/op.h"
#include "tensor/ops/pool/max_unpool.h"
#include "tensor/ops/pool/pool_window.h"
#include "tensor/ops/shape/convert.h"
#include "tensor/ops/shape/views.h"

namespace firn {
namespace {

// Whether a window along one axis lies in the padding as a whole, which dilation makes possible.
bool AnyEmptyWindow(const PoolAxis& axis) {
  const auto empty = [&](int64_t o) {
    const PoolSpan span = axis.Window(o);
    return span.begin >= span.end;
  };
  for (int64_t o = 0; o < axis.out && o * axis.stride < axis.padding; ++o) {
    if (empty(o)) return true;
  }
  return axis.out > 0 && empty(axis.out - 1);
}

absl::Status Infer(InferContext& c) {
  const Shape& x = c.shape(0);
  const PoolAttrs& a = c.attrs<PoolAttrs>();
  const Sizes image = ImageOf(x);
  FIRN_ASSIGN_OR_RETURN(const Sizes out, PoolOutputSize(image, a));
  if (!a.is_adaptive()) {
    const PoolAxes axes(image, out, a);
    FIRN_RETURN_IF(AnyEmptyWindow(axes.d) || AnyEmptyWindow(axes.h) || AnyEmptyWindow(axes.w),
                   InvalidArgument("a window of x ", x.ToString(), " holds nothing but padding"));
  }
  int64_t elements = 1;
  for (const int64_t side : image.span()) {
    FIRN_RETURN_IF(side > INT32_MAX || elements * side > INT32_MAX,
                   InvalidArgument("images of more than 2^31 - 1 elements"));
    elements *= side;
  }
  FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(x[0], x[1], out));
  c.set_out(0, c.dtype(0), y);
  c.set_out(1, DType::kI32, y);
  return absl::OkStatus();
}

// Channels side by side, worked on as one vector, and integers of the same width.
template <class C, int kBlock>
struct LanesOf {
  using Integer = std::conditional_t<sizeof(C) == sizeof(int32_t), int32_t, int64_t>;
  typedef C Values __attribute__((vector_size(kBlock * sizeof(C))));
  typedef Integer Places __attribute__((vector_size(kBlock * sizeof(C))));
};

// Whether v comes in place of the best so far, for a number or for lanes of them: the first NaN
// wins, else the first of the largest.
template <class V>
FIRN_ALWAYS_INLINE auto Beats(const V& v, const V& best) {
  return (v > best) | ((v != v) & (best == best));
}

// One output pixel of `kBlock` channels, whose window lies in these slices, rows and columns.
template <int kBlock, class T>
void Window(const T* plane, const PoolAxes& axes, const PoolSpan& slices, const PoolSpan& rows,
            const PoolSpan& cols, T* y, int32_t* index) {
  using C = AccumulatorOf<T>;
  using Lanes = LanesOf<C, kBlock>;
  using Values = typename Lanes::Values;
  using Places = typename Lanes::Places;
  using Integer = typename Lanes::Integer;
  const int64_t width = axes.w.in, row_step = axes.h.dilation, col_step = axes.w.dilation;
  Values best = Values{} - std::numeric_limits<C>::infinity();
  const int64_t first = (slices.begin * axes.h.in + rows.begin) * width + cols.begin;
  Places at = Places{} + static_cast<Integer>(first);
  for (int64_t s = slices.begin; s < slices.end; s += axes.d.dilation) {
    for (int64_t i = rows.begin; i < rows.end; i += row_step) {
      const int64_t line = (s * axes.h.in + i) * width;
      for (int64_t j = cols.begin; j < cols.end; j += col_step) {
        Values v;
        cpu::LoadAs(plane + (line + j) * kBlock, kBlock, reinterpret_cast<C*>(&v));
        const Places wins = Beats(v, best);
        best = wins ? v : best;
        at = wins ? Places{} + static_cast<Integer>(line + j) : at;
      }
    }
  }
  cpu::StoreFrom(reinterpret_cast<const C*>(&best), kBlock, y);
  for (int b = 0; b < kBlock; ++b) index[b] = static_cast<int32_t>(at[b]);
}

// Columns of an image that WholeWindows reads at once: of half types, so many floats.
constexpr int64_t kStrip = 1024;

// One tap of n neighbouring windows, whose elements begin at x; the first lies at `place`. The best
// so far comes from earlier taps, if there were any.
template <int kStride, bool kFirst, class C, class Integer>
FIRN_ALWAYS_INLINE void Tap(const C* x, int64_t any_stride, int64_t n, int64_t place, C* best,
                            Integer* at) {
  const int64_t stride = kStride == 0 ? any_stride : kStride;
  const auto from = static_cast<Integer>(place), step = static_cast<Integer>(stride);
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    const C v = x[j * stride];
    const auto here = static_cast<Integer>(from + static_cast<Integer>(j) * step);
    const bool wins = kFirst || Beats(v, best[j]);
    best[j] = wins ? v : best[j];
    at[j] = wins ? here : at[j];
  }
}

// The outputs [begin, end) of a row whose windows have all their columns, of one row-major channel:
// side by side, tap by tap, so that the compiler makes vectors of outputs. `kStride` 0: any.
template <int kStride, class T>
void WholeWindows(const T* plane, const PoolAxes& axes, const PoolSpan& slices,
                  const PoolSpan& rows, int64_t begin, int64_t end, T* y, int32_t* index) {
  using C = AccumulatorOf<T>;
  using Integer = typename LanesOf<C, 1>::Integer;  // as wide as C: one mask serves both
  constexpr int64_t kChunk = 256;
  const int64_t width = axes.w.in, stride = kStride == 0 ? axes.w.stride : kStride;
  const int64_t reach = axes.w.dilation * (axes.w.kernel - 1) + 1;  // of a window
  const int64_t chunk = std::min(kChunk, (kStrip - reach) / stride + 1);
  C best[kChunk], strip[kStrip];
  Integer at[kChunk];
  for (int64_t from = begin; from < end; from += chunk) {
    const int64_t n = std::min(chunk, end - from), start = from * stride - axes.w.padding;
    bool first = true;
    for (int64_t s = slices.begin; s < slices.end; s += axes.d.dilation) {
      for (int64_t i = rows.begin; i < rows.end; i += axes.h.dilation) {
        const int64_t place = (s * axes.h.in + i) * width + start;
        const C* const x = cpu::ViewAs(plane + place, (n - 1) * stride + reach, strip);
        for (int64_t tap = 0; tap < reach; tap += axes.w.dilation) {
          if (first) {
            Tap<kStride, true>(x + tap, stride, n, place + tap, best, at);
          } else {
            Tap<kStride, false>(x + tap, stride, n, place + tap, best, at);
          }
          first = false;
        }
      }
    }
    cpu::StoreFrom(best, n, y + from);
    for (int64_t j = 0; j < n; ++j) index[from + j] = static_cast<int32_t>(at[j]);
  }
}

// The windows of an axis that lie in the image as a whole and can be worked on side by side: from
// the first up to the second.
std::pair<int64_t, int64_t> WholeWindowsOf(const PoolAxis& axis) {
  const int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
  if (axis.adaptive != 0 || reach > kStrip) return {0, 0};
  const int64_t room = axis.in + axis.padding - (reach - 1);
  const int64_t end = room <= 0 ? 0 : std::min(axis.out, CeilDiv(room, axis.stride));
  return {std::min(CeilDiv(axis.padding, axis.stride), end), end};
}

// One row of outputs, of `kBlock` channels.
template <int kBlock, class T>
void Row(const T* plane, const PoolAxes& axes, const PoolSpan& slices, const PoolSpan& rows, T* y,
         int32_t* index) {
  const auto one = [&](int64_t j) {
    Window<kBlock>(plane, axes, slices, rows, axes.w.Window(j), y + j * kBlock, index + j * kBlock);
  };
  int64_t j = 0;
  if constexpr (kBlock == 1) {
    const auto [begin, end] = WholeWindowsOf(axes.w);
    for (; j < begin; ++j) one(j);
    const auto whole = axes.w.stride == 1   ? WholeWindows<1, T>
                       : axes.w.stride == 2 ? WholeWindows<2, T>
                                            : WholeWindows<0, T>;
    if (begin < end) whole(plane, axes, slices, rows, begin, end, y, index);
    j = end;
  }
  for (; j < axes.w.out; ++j) one(j);
}

absl::Status Run(KernelContext& k) {
  const PoolAxes axes(ImageOf(k.in_spec(0).shape), ImageOf(k.out_spec().shape),
                      k.attrs<PoolAttrs>());
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const T* x = k.in<T>(0);
    T* y = k.out<T>(0);
    int32_t* index = k.out<int32_t>(1);
    cpu::ForEachPlane(k.in_spec(0), axes.image(), [&](int64_t plane, auto block) {
      constexpr int kBlock = decltype(block)::value;
      const T* from = x + plane * axes.image() * kBlock;
      int64_t to = plane * axes.pixels() * kBlock;
      for (int64_t s = 0; s < axes.d.out; ++s) {
        const PoolSpan slices = axes.d.Window(s);
        for (int64_t i = 0; i < axes.h.out; ++i) {
          Row<kBlock>(from, axes, slices, axes.h.Window(i), y + to, index + to);
          to += axes.w.out * kBlock;
        }
      }
    });
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  PoolAttrs a = g.attrs<PoolAttrs>();
  a.image = ImageOf(g.input_shape(0));
  g.set_grad_input(0, MaxPoolGrad(g.grad_output(), g.output(1), a));
}

OpDef MaxPoolOp(int dims) {
  return {
      .doc = "The largest element of each window, and where it was.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = dims + 2, .max_rank = dims + 2}},
      .outputs = {{.name = "y"}, {.name = "indices"}},
      .attrs = AttrsOf<PoolAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Output(1)},
      .kernels = {{.name = "loop", .layouts = cpu::ChannelLayouts, .run = Run}},
  };
}

FIRN_REGISTER_OP(max_pool1d) { return MaxPoolOp(1); }
FIRN_REGISTER_OP(max_pool2d) { return MaxPoolOp(2); }
FIRN_REGISTER_OP(max_pool3d) { return MaxPoolOp(3); }

PoolAttrs AttrsOf(const MaxPoolOptions& o) {
  return {.kernel = o.kernel,
          .stride = o.stride.Or(o.kernel),
          .padding = o.padding,
          .dilation = o.dilation,
          .ceil_mode = o.ceil_mode};
}

PoolAttrs AdaptiveTo(int dims, const Sizes& output_size) {
  constexpr const char* kNames[] = {"adaptive_max_pool1d", "adaptive_max_pool2d",
                                    "adaptive_max_pool3d"};
  // Size 0 would mean windows that are not adaptive.
  RaiseIfError(internal::CheckedOption("output_size", output_size, 1, dims).status(),
               kNames[dims - 1]);
  return {.adaptive = output_size};
}

const OpDef& OpOf(int dims) { return OpOfDims<"max_pool1d", "max_pool2d", "max_pool3d">(dims); }

Tensor Pool(int dims, const Tensor& x, const PoolAttrs& a) {
  const OpDef& op = OpOf(dims);
  if (LacksBatch(x, dims, op.name)) return Squeeze(Pool(dims, Unsqueeze(x, 0), a), 0);
  return std::move(Apply(op, {x}, a)[0]);
}

ValuesAndIndices PoolWithIndices(int dims, const Tensor& x, const PoolAttrs& a) {
  const OpDef& op = OpOf(dims);
  if (LacksBatch(x, dims, op.name)) {
    const ValuesAndIndices both = PoolWithIndices(dims, Unsqueeze(x, 0), a);
    return {Squeeze(both.values, 0), Squeeze(both.indices, 0)};
  }
  TensorList out = Apply(op, {x}, a);
  return {out[0], Cast(out[1], DType::kI64)};
}

}  // namespace

Tensor MaxPool1d(const Tensor& x, const MaxPoolOptions& o) { return Pool(1, x, AttrsOf(o)); }
Tensor MaxPool2d(const Tensor& x, const MaxPoolOptions& o) { return Pool(2, x, AttrsOf(o)); }
Tensor MaxPool3d(const Tensor& x, const MaxPoolOptions& o) { return Pool(3, x, AttrsOf(o)); }

ValuesAndIndices MaxPool1dWithIndices(const Tensor& x, const MaxPoolOptions& o) {
  return PoolWithIndices(1, x, AttrsOf(o));
}
ValuesAndIndices MaxPool2dWithIndices(const Tensor& x, const MaxPoolOptions& o) {
  return PoolWithIndices(2, x, AttrsOf(o));
}
ValuesAndIndices MaxPool3dWithIndices(const Tensor& x, const MaxPoolOptions& o) {
  return PoolWithIndices(3, x, AttrsOf(o));
}

Tensor AdaptiveMaxPool1d(const Tensor& x, const Sizes& output_size) {
  return Pool(1, x, AdaptiveTo(1, output_size));
}
Tensor AdaptiveMaxPool2d(const Tensor& x, const Sizes& output_size) {
  return Pool(2, x, AdaptiveTo(2, output_size));
}
Tensor AdaptiveMaxPool3d(const Tensor& x, const Sizes& output_size) {
  return Pool(3, x, AdaptiveTo(3, output_size));
}

ValuesAndIndices AdaptiveMaxPool1dWithIndices(const Tensor& x, const Sizes& output_size) {
  return PoolWithIndices(1, x, AdaptiveTo(1, output_size));
}
ValuesAndIndices AdaptiveMaxPool2dWithIndices(const Tensor& x, const Sizes& output_size) {
  return PoolWithIndices(2, x, AdaptiveTo(2, output_size));
}
ValuesAndIndices AdaptiveMaxPool3dWithIndices(const Tensor& x, const Sizes& output_size) {
  return PoolWithIndices(3, x, AdaptiveTo(3, output_size));
}

}  // namespace firn

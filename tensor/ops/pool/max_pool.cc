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

#include "device/parallel.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/channels.h"
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

// Columns of images that WholeWindows reads at once, and windows that it finds the largest of.
constexpr int64_t kStrip = 1024, kWindows = 256;

// One tap of n neighbouring windows, whose elements begin at x. `place`: the tap's, from where each
// window begins. The best so far comes from earlier taps, if there were any.
template <int kStride, bool kFirst, class C, class Integer>
FIRN_ALWAYS_INLINE void Tap(const C* x, int64_t any_stride, int64_t n, Integer place, C* best,
                            Integer* at) {
  const int64_t stride = kStride == 0 ? any_stride : kStride;
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    const C v = x[j * stride];
    const bool wins = kFirst || Beats(v, best[j]);
    best[j] = wins ? v : best[j];
    at[j] = wins ? place : at[j];
  }
}

// Windows of an axis that lie in the image as a whole, one beside the other.
struct WholeSpan {
  int64_t begin = 0, end = 0;
};
WholeSpan WholeWindowsOf(const PoolAxis& axis) {
  const int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
  if (axis.adaptive != 0 || reach > kStrip / 4) return {};
  const int64_t room = axis.in + axis.padding - (reach - 1);
  const int64_t end = room <= 0 ? 0 : std::min(axis.out, CeilDiv(room, axis.stride));
  return {std::min(CeilDiv(axis.padding, axis.stride), end), end};
}

// Row-major planes, one behind the other, of which the same row of outputs is found at once: rows
// of one plane alone may be too short for vectors.
template <class T>
class PlaneRows {
 public:
  explicit PlaneRows(const PoolAxes& axes)
      : axes_(axes),
        whole_(WholeWindowsOf(axes.w)),
        reach_(axes.w.dilation * (axes.w.kernel - 1) + 1) {
    const int64_t n = whole_.end - whole_.begin, stride = axes.w.stride;
    if (n == 0) return;  // then the stride may be anything
    // Behind each plane's windows come some that mean nothing, so that the strip has the taps of
    // the last one.
    lanes_ = n + CeilDiv(std::max<int64_t>(0, reach_ - stride), stride);
    together_ = std::min(kWindows / lanes_, kStrip / (lanes_ * stride));
    together_ = std::max<int64_t>(1, together_);
  }

  // Planes that Rows takes at most.
  int64_t together() const { return together_; }

  // All rows of outputs of `planes` planes from x on.
  void Rows(const T* x, int64_t planes, T* y, int32_t* index) {
    int64_t to = 0;
    for (int64_t s = 0; s < axes_.d.out; ++s) {
      const PoolSpan slices = axes_.d.Window(s);
      for (int64_t i = 0; i < axes_.h.out; ++i, to += axes_.w.out) {
        const PoolSpan rows = axes_.h.Window(i);
        for (int64_t p = 0; p < planes; ++p) Borders(x, p, slices, rows, y + to, index + to);
        if (whole_.begin == whole_.end) continue;
        if (planes > 1) {
          Whole(x, planes, slices, rows, whole_.begin, whole_.end, y + to, index + to);
          continue;
        }
        const int64_t most = std::min(kWindows, (kStrip - reach_) / axes_.w.stride + 1);
        for (int64_t from = whole_.begin; from < whole_.end; from += most) {
          Whole(x, 1, slices, rows, from, std::min(whole_.end, from + most), y + to, index + to);
        }
      }
    }
  }

 private:
  using C = AccumulatorOf<T>;
  using Integer = typename LanesOf<C, 1>::Integer;  // as wide as C: one mask serves both

  void Borders(const T* x, int64_t plane, const PoolSpan& slices, const PoolSpan& rows, T* y,
               int32_t* index) const {
    for (int64_t j = 0; j < axes_.w.out; ++j) {
      if (j == whole_.begin) j = whole_.end;
      if (j >= axes_.w.out) break;
      const int64_t to = plane * axes_.pixels() + j;
      Window<1>(x + plane * axes_.image(), axes_, slices, rows, axes_.w.Window(j), y + to,
                index + to);
    }
  }

  // Windows [begin, end) of a row of each plane: side by side, tap by tap, so that the compiler
  // makes vectors of windows.
  void Whole(const T* x, int64_t planes, const PoolSpan& slices, const PoolSpan& rows,
             int64_t begin, int64_t end, T* y, int32_t* index) {
    const int64_t windows = end - begin, stride = axes_.w.stride;
    const int64_t lanes = planes == 1 ? windows : lanes_, n = (planes - 1) * lanes + windows;
    const int64_t origin =
        (slices.begin * axes_.h.in + rows.begin) * axes_.w.in + begin * stride - axes_.w.padding;
    bool first = true;
    for (int64_t s = slices.begin; s < slices.end; s += axes_.d.dilation) {
      for (int64_t i = rows.begin; i < rows.end; i += axes_.h.dilation) {
        const int64_t line = ((s - slices.begin) * axes_.h.in + i - rows.begin) * axes_.w.in;
        const C* const from = Strip(x + origin + line, planes, windows, lanes);
        for (int64_t tap = 0; tap < reach_; tap += axes_.w.dilation) {
          const auto place = static_cast<Integer>(line + tap);
          stride == 1   ? AnyTap<1>(first, from + tap, n, place)
          : stride == 2 ? AnyTap<2>(first, from + tap, n, place)
                        : AnyTap<0>(first, from + tap, n, place);
          first = false;
        }
      }
    }
    for (int64_t p = 0; p < planes; ++p) {
      const int64_t to = p * axes_.pixels() + begin;
      const auto from = static_cast<int32_t>(origin), step = static_cast<int32_t>(stride);
      cpu::StoreFrom(best_ + p * lanes, windows, y + to);
      for (int64_t j = 0; j < windows; ++j) {
        index[to + j] =
            from + static_cast<int32_t>(j) * step + static_cast<int32_t>(at_[p * lanes + j]);
      }
    }
  }
  template <int kStride>
  void AnyTap(bool first, const C* x, int64_t n, Integer place) {
    first ? Tap<kStride, true>(x, axes_.w.stride, n, place, best_, at_)
          : Tap<kStride, false>(x, axes_.w.stride, n, place, best_, at_);
  }

  // What the windows of a row of each plane hold in one line of the image, from x on.
  const C* Strip(const T* x, int64_t planes, int64_t windows, int64_t lanes) {
    const int64_t length = (windows - 1) * axes_.w.stride + reach_, pitch = lanes * axes_.w.stride;
    if (planes == 1) return cpu::ViewAs(x, length, strip_);
    T* const to = Raw();
    for (int64_t p = 0; p < planes; ++p) {
      const T* const from = x + p * axes_.image();
      for (int64_t j = 0; j < length; ++j) to[p * pitch + j] = from[j];
    }
    return cpu::ViewAs(to, planes * pitch, strip_);
  }
  T* Raw() {
    if constexpr (std::is_same_v<T, C>) {
      return strip_;
    } else {
      return raw_;
    }
  }

  const PoolAxes& axes_;
  WholeSpan whole_;
  int64_t reach_;  // of a window
  int64_t lanes_ = 0, together_ = 1;
  C best_[kWindows], strip_[kStrip] = {};  // taps of lanes that mean nothing read it too
  Integer at_[kWindows];
  T raw_[std::is_same_v<T, C> ? 1 : kStrip] = {};
};

absl::Status Run(KernelContext& k) {
  const PoolAxes axes(ImageOf(k.in_spec(0).shape), ImageOf(k.out_spec().shape),
                      k.attrs<PoolAttrs>());
  const cpu::ChannelView view = cpu::ViewChannels(k.in_spec(0));
  const int64_t planes = view.batch * view.groups, image = std::max<int64_t>(1, axes.image());
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const T* x = k.in<T>(0);
    T* y = k.out<T>(0);
    int32_t* index = k.out<int32_t>(1);
    if (view.block == 1) {
      ParallelFor(planes, std::max<int64_t>(1, 16384 / image), [&](int64_t begin, int64_t end) {
        PlaneRows<T> rows(axes);
        for (int64_t plane = begin; plane < end; plane += rows.together()) {
          rows.Rows(x + plane * axes.image(), std::min(rows.together(), end - plane),
                    y + plane * axes.pixels(), index + plane * axes.pixels());
        }
      });
      return;
    }
    cpu::ForEachPlane(k.in_spec(0), axes.image(), [&](int64_t plane, auto block) {
      constexpr int kBlock = decltype(block)::value;
      const T* from = x + plane * axes.image() * kBlock;
      int64_t to = plane * axes.pixels() * kBlock;
      for (int64_t s = 0; s < axes.d.out; ++s) {
        const PoolSpan slices = axes.d.Window(s);
        for (int64_t i = 0; i < axes.h.out; ++i) {
          const PoolSpan rows = axes.h.Window(i);
          for (int64_t j = 0; j < axes.w.out; ++j, to += kBlock) {
            Window<kBlock>(from, axes, slices, rows, axes.w.Window(j), y + to, index + to);
          }
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

// avg_pool1d, 2d, 3d (fixed and adaptive windows) and their gradients. Both are linear, and each is
// the other's gradient.

#include "firn/tensor/ops/pool/avg_pool.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/average_rows.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/planes.h"
#include "firn/tensor/kernels/cpu/spread_planes.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/pool/avg_pool_body.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/images.h"
#include "firn/tensor/problems/pool_problem.h"

namespace firn {
namespace {

Tensor AvgPoolGrad(const Tensor& grad, const PoolAttrs& attrs);
Tensor AvgPoolWith(const Tensor& x, const PoolAttrs& attrs);

absl::Status CheckAttrs(const PoolAttrs& a) {
  FIRN_RETURN_IF(a.divisor_override < 0,
                 InvalidArgument("divisor_override ", a.divisor_override, " (want >= 0)"));
  FIRN_RETURN_IF(!a.dilation.Are(1), InvalidArgument("dilation ", a.dilation.ToString(),
                                                     " (want 1: averages have none)"));
  return absl::OkStatus();
}

absl::Status Infer(InferContext& c) {
  const Shape& x = c.shape(0);
  const PoolAttrs& a = c.attrs<PoolAttrs>();
  FIRN_RETURN_IF_ERROR(CheckAttrs(a));
  FIRN_ASSIGN_OR_RETURN(const Sizes out, PoolOutputSize(ImageOf(x), a));
  FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(x[0], x[1], out));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) {
  const Shape& g = c.shape(0);
  const PoolAttrs& a = c.attrs<PoolAttrs>();
  FIRN_RETURN_IF_ERROR(CheckAttrs(a));
  FIRN_ASSIGN_OR_RETURN(const Sizes image, internal::FittedOption("image", a.image, g.rank() - 2));
  FIRN_ASSIGN_OR_RETURN(const Shape x, ShapeOfImages(g[0], g[1], image));
  FIRN_ASSIGN_OR_RETURN(const Sizes out, PoolOutputSize(image, a));
  FIRN_RETURN_IF(out != ImageOf(g), InvalidArgument("pooling the image gives ", out.ToString(),
                                                    ", grad is ", g.ToString()));
  c.set_out(0, c.dtype(0), x);
  return absl::OkStatus();
}

// In blocks wherever the channels allow: windows are then computed for many channels at once, the
// next operation is usually a convolution's gradient, and `grad` is smaller to reorder than the
// result.
void GradLayouts(const KernelQuery& q, LayoutRequest& want) {
  want.in[0] = want.out[0] = cpu::KernelBlock(q.in(0).shape);
}

// Calls f(slices, rows, columns) for every window, in the order of the pixels.
template <class F>
void ForEachWindow(const AvgPoolWindows& s, F&& f) {
  for (int64_t d = 0; d < s.d.out; ++d) {
    const PoolSpan slices = s.Span(s.d, d);
    for (int64_t r = 0; r < s.h.out; ++r) {
      const PoolSpan rows = s.Span(s.h, r);
      for (int64_t c = 0; c < s.w.out; ++c) f(slices, rows, s.Span(s.w, c));
    }
  }
}

// Writes a row of tiles that are `side` elements wide: each tile gets its share of one of n
// averages' gradients.
template <int kBlock, class Acc>
void SpreadRow(const Acc* from, int64_t n, int64_t side, Acc divisor, Acc* to) {
  if (kBlock == 1 && side == 2) {
    FIRN_INDEPENDENT_STEPS
    for (int64_t j = 0; j < n; ++j) {
      const Acc share = from[j] / divisor + Acc{0};  // no negative 0
      to[2 * j] = share;
      to[2 * j + 1] = share;
    }
    return;
  }
  for (int64_t j = 0; j < n; ++j) {
    Acc share[kBlock];
    for (int b = 0; b < kBlock; ++b) share[b] = from[j * kBlock + b] / divisor + Acc{0};
    for (int64_t i = 0; i < side; ++i) {
      for (int b = 0; b < kBlock; ++b) to[(j * side + i) * kBlock + b] = share[b];
    }
  }
}

// Elements of a row of tiles that are computed at once, of half types in floats.
constexpr int64_t kRowStrip = 1024;

// Gives each element of a plane's tiles its share, row by row. Requires: for half types, a tile no
// wider than a strip.
template <int kBlock, class T>
void SpreadTiles(const AvgPoolWindows& s, const T* from, T* to) {
  using Acc = ComputeOf<T>;
  constexpr bool kDirect = std::is_same_v<T, Acc>;
  const int64_t line = s.w.in * kBlock, side = s.w.kernel, tile = s.d.kernel * s.h.kernel * side;
  const int64_t most = kDirect ? s.w.out : kRowStrip / (side * kBlock);
  const Acc divisor = static_cast<Acc>(s.divisor_override != 0 ? s.divisor_override : tile);
  Acc values[kDirect ? 1 : kRowStrip], shares[kDirect ? 1 : kRowStrip];
  for (int64_t d = 0; d < s.d.out * s.d.kernel; d += s.d.kernel) {
    for (int64_t r = 0; r < s.h.out * s.h.kernel; r += s.h.kernel) {
      T* const row = to + (d * s.h.in + r) * line;
      for (int64_t j = 0, n; j < s.w.out; j += n, from += n * kBlock) {
        n = std::min(most, s.w.out - j);
        const Acc* const some = cpu::ViewAs(from, n * kBlock, values);
        T* const part = row + j * side * kBlock;
        if constexpr (kDirect) {
          SpreadRow<kBlock>(some, n, side, divisor, part);
        } else {
          SpreadRow<kBlock>(some, n, side, divisor, shares);
          cpu::FromFloats(shares, n * side * kBlock, part);
        }
      }
      for (int64_t i = 0; i < s.d.kernel; ++i) {
        for (int64_t j = i == 0 ? 1 : 0; j < s.h.kernel; ++j) {
          std::copy_n(row, s.w.out * side * kBlock, row + (i * s.h.in + j) * line);
        }
      }
    }
  }
}

// Adds its share to all elements of a window.
template <int kBlock, class Acc>
void SpreadWindows(const AvgPoolWindows& s, const Acc* from, Acc* to) {
  ForEachWindow(s, [&](const PoolSpan& slices, const PoolSpan& rows, const PoolSpan& cols) {
    const Acc divisor = static_cast<Acc>(s.Divisor(slices, rows, cols));
    Acc share[kBlock];
    for (int b = 0; b < kBlock; ++b) share[b] = from[b] / divisor;
    from += kBlock;
    for (int64_t d = slices.begin; d < slices.end; ++d) {
      for (int64_t i = rows.begin; i < rows.end; ++i) {
        for (int64_t j = cols.begin; j < cols.end; ++j) {
          Acc* at = to + ((d * s.h.in + i) * s.w.in + j) * kBlock;
          for (int b = 0; b < kBlock; ++b) at[b] += share[b];
        }
      }
    }
  });
}

// Whether tiles cover the image completely.
bool ShareOutAll(const PoolAxis& axis) { return axis.out * axis.stride == axis.in; }

// Writes tiles in place. For half types that is slower where a row is shorter than a vector.
// Requires: as SpreadTiles.
template <class T, int kBlock>
void RunTiles(const AvgPoolWindows& s, int64_t planes, const T* from, T* to) {
  const int64_t image = s.image() * kBlock, pooled = s.pixels() * kBlock;
  const bool all = ShareOutAll(s.d) && ShareOutAll(s.h) && ShareOutAll(s.w);
  ParallelFor(planes, std::max<int64_t>(1, 16384 / image), [&](int64_t begin, int64_t end) {
    if (!all) std::fill(to + begin * image, to + end * image, T(0));
    for (int64_t p = begin; p < end; ++p) {
      SpreadTiles<kBlock>(s, from + p * pooled, to + p * image);
    }
  });
}

// The portable gather finds for every element the windows that hold it, and takes 2 to 10 times as
// long.
absl::Status RunWindows(KernelContext& k) {
  const TensorSpec& out = k.out_spec();
  const AvgPoolWindows s(out, k.in_spec(0), k.attrs<PoolAttrs>());
  const bool tiles = s.d.tiles() && s.h.tiles() && s.w.tiles();
  const int64_t lanes = out.layout.blocked() ? out.layout.channel_block : 1;
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    constexpr int64_t kLeast = 16;
    const bool rows = s.w.out * lanes >= kLeast && s.w.kernel * lanes <= kRowStrip;
    if (tiles && (rows || !cpu::kIsHalf<T>)) {
      const int64_t planes = out.shape[0] * out.shape[1] / lanes;
      return lanes == 1 ? RunTiles<T, 1>(s, planes, k.in<T>(0), k.out<T>())
                        : RunTiles<T, kChannelBlock>(s, planes, k.in<T>(0), k.out<T>());
    }
    cpu::SpreadPlanes<T>(
        k, [&](int64_t, int64_t planes, const auto* values, auto* sums, auto block) {
          constexpr int kBlock = decltype(block)::value;
          for (int64_t plane = 0; plane < planes; ++plane) {
            const auto* const from = values + plane * s.pixels() * kBlock;
            auto* const to = sums + plane * s.image() * kBlock;
            tiles ? SpreadTiles<kBlock>(s, from, to) : SpreadWindows<kBlock>(s, from, to);
          }
        });
  });
  return absl::OkStatus();
}

// Whether the only window of an axis is all of it.
bool IsWhole(const PoolAxis& axis) {
  const PoolSpan span = axis.Window(0);
  return axis.out == 1 && span.begin == 0 && span.end == axis.in && span.padded == axis.in;
}

// The sum of x[0..n); every lane of a register adds up a share.
template <class Acc>
Acc SumOf(const Acc* x, int64_t n) {
  constexpr int64_t kLanes = kSimdLanes<Acc>;
  Vec<Acc> lanes = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Vec<Acc> more;
    std::memcpy(&more, x + i, sizeof(more));
    lanes += more;
  }
  alignas(64) Acc sums[kLanes];
  std::memcpy(sums, &lanes, sizeof(sums));
  for (int64_t l = 0; i + l < n; ++l) sums[l] += x[i + l];
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t l = 0; l < width; ++l) sums[l] += sums[l + width];
  }
  return sums[0];
}

// Row-major images that are one window each; as many as fit into the strip at once.
template <class T>
void AveragePlanes(const T* x, int64_t planes, int64_t image, int64_t divisor, T* y) {
  using Acc = AccumulatorOf<T>;
  constexpr int64_t kStrip = 2048;
  const int64_t together = std::max<int64_t>(1, kStrip / image);
  const int64_t grain = std::max<int64_t>(1, 16384 / (together * image));
  ParallelFor(CeilDiv(planes, together), grain, [&](int64_t begin, int64_t end) {
    Acc strip[kStrip], means[kStrip];
    for (int64_t at = begin * together; at < std::min(planes, end * together); at += together) {
      const int64_t count = std::min(together, planes - at);
      if (image > kStrip) {
        means[0] = 0;
        cpu::ForEachStripAs<Acc>(x + at * image, image, [&](const Acc* v, int64_t, int64_t n) {
          means[0] += SumOf(v, n);
        });
      } else {
        const Acc* const v = cpu::ViewAs(x + at * image, count * image, strip);
        for (int64_t p = 0; p < count; ++p) means[p] = SumOf(v + p * image, image);
      }
      const Acc by = static_cast<Acc>(divisor);
      for (int64_t p = 0; p < count; ++p) means[p] = (means[p] + Acc{0}) / by;
      cpu::StoreFrom(means, count, y + at);
    }
  });
}

// By rows where windows fit into the first-level cache, else window by window.
absl::Status RunRows(KernelContext& k) {
  const AvgPoolWindows s(k.in_spec(0), k.out_spec(), k.attrs<PoolAttrs>());
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const T* x = k.in<T>(0);
    T* y = k.out<T>();
    const auto by_rows = [&](int64_t plane, int64_t first, int64_t last, auto block) {
      constexpr int kBlock = decltype(block)::value;
      cpu::AverageRows<kBlock, T>(s).Rows(x + plane * s.image() * kBlock, first, last,
                                          y + plane * s.pixels() * kBlock);
    };
    const auto by_windows = [&](int64_t plane, int64_t first, int64_t last, auto block) {
      const AvgPoolBody<T, decltype(block)::value> windows = {s, 1, x, y};
      windows(plane * s.pixels() + first, plane * s.pixels() + last);
    };
    const bool blocked = k.in_spec(0).layout.blocked();
    if (!blocked && IsWhole(s.d) && IsWhole(s.h) && IsWhole(s.w) && s.image() > 0) {
      const int64_t divisor = s.divisor_override != 0 ? s.divisor_override : s.image();
      return AveragePlanes(x, k.out_spec().num_elements(), s.image(), divisor, y);
    }
    const bool fits =
        blocked ? cpu::AverageRows<kChannelBlock, T>::Fits(s) : cpu::AverageRows<1, T>::Fits(s);
    const auto per = [&](int64_t n) { return s.image() / std::max<int64_t>(1, n); };
    const int64_t rows = s.d.out * s.h.out, pixels = s.pixels();
    fits ? cpu::ForEachBand(k.in_spec(0), rows, per(rows), by_rows)
         : cpu::ForEachBand(k.in_spec(0), pixels, per(pixels), by_windows);
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  PoolAttrs a = g.attrs<PoolAttrs>();
  a.image = ImageOf(g.input_shape(0));
  g.set_grad_input(0, AvgPoolGrad(g.grad_output(), a));
}

void GradOfGrad(GradContext& g) {
  g.set_grad_input(0, AvgPoolWith(g.grad_output(), g.attrs<PoolAttrs>()));
}

OpDef AvgPoolOp(int dims) {
  return {
      .doc = "The average of each window.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = dims + 2, .max_rank = dims + 2}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<PoolAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = cpu::Portable<AvgPoolKernel>(
          {.name = "loop", .layouts = cpu::ChannelLayouts},
          {{.name = "rows", .layouts = cpu::ChannelLayouts, .run = RunRows}}),
  };
}

FIRN_REGISTER_OP(avg_pool1d) { return AvgPoolOp(1); }
FIRN_REGISTER_OP(avg_pool2d) { return AvgPoolOp(2); }
FIRN_REGISTER_OP(avg_pool3d) { return AvgPoolOp(3); }

OpDef AvgPoolGradOp(int dims) {
  return {
      .doc = "Spreads each average's gradient over its window.",
      .inputs = {{.name = "grad", .dtypes = kFloating, .min_rank = dims + 2, .max_rank = dims + 2}},
      .outputs = {{.name = "image_grad"}},
      .attrs = AttrsOf<PoolAttrs>(),
      .infer = InferGrad,
      .grad = GradOfGrad,
      .kernels = cpu::Portable<AvgPoolGradKernel>({.name = "loop", .layouts = GradLayouts},
                                                  {{.name = "windows",
                                                    .workspace = cpu::SpreadPlanesBytes,
                                                    .layouts = GradLayouts,
                                                    .run = RunWindows}}),
  };
}

FIRN_REGISTER_OP(avg_pool1d_grad) { return AvgPoolGradOp(1); }
FIRN_REGISTER_OP(avg_pool2d_grad) { return AvgPoolGradOp(2); }
FIRN_REGISTER_OP(avg_pool3d_grad) { return AvgPoolGradOp(3); }

Tensor AvgPoolGrad(const Tensor& grad, const PoolAttrs& attrs) {
  return Apply1(OpOfDims<"avg_pool1d_grad", "avg_pool2d_grad", "avg_pool3d_grad">(grad.rank() - 2),
                {grad}, attrs);
}

const OpDef& OpOf(int dims) { return OpOfDims<"avg_pool1d", "avg_pool2d", "avg_pool3d">(dims); }

Tensor AvgPoolWith(const Tensor& x, const PoolAttrs& attrs) {
  return Apply1(OpOf(x.rank() - 2), {x}, attrs);
}

Tensor Pool(int dims, const Tensor& x, const PoolAttrs& a) {
  const OpDef& op = OpOf(dims);
  if (LacksBatch(x, dims, op.name)) return Squeeze(Pool(dims, Unsqueeze(x, 0), a), 0);
  return Apply1(op, {x}, a);
}

PoolAttrs AttrsFrom(const AvgPoolOptions& o) {
  return {.kernel = o.kernel,
          .stride = o.stride.Or(o.kernel),
          .padding = o.padding,
          .ceil_mode = o.ceil_mode,
          .count_include_pad = o.count_include_pad,
          .divisor_override = o.divisor_override};
}

Tensor AdaptivePool(int dims, const Tensor& x, const Sizes& output_size) {
  constexpr const char* kNames[] = {"adaptive_avg_pool1d", "adaptive_avg_pool2d",
                                    "adaptive_avg_pool3d"};
  // Size 0 would mean windows that are not adaptive.
  RaiseIfError(internal::CheckedOption("output_size", output_size, 1, dims).status(),
               kNames[dims - 1]);
  return Pool(dims, x, PoolAttrs{.adaptive = output_size});
}

}  // namespace

void AvgPoolOptions::Check(const char* where) const {
  const PoolAttrs attrs = AttrsFrom(*this);
  RaiseIfError(CheckAttrs(attrs), where);
  RaiseIfError(CheckWindows(attrs), where);
}

Tensor AvgPool1d(const Tensor& x, const AvgPoolOptions& o) { return Pool(1, x, AttrsFrom(o)); }
Tensor AvgPool2d(const Tensor& x, const AvgPoolOptions& o) { return Pool(2, x, AttrsFrom(o)); }
Tensor AvgPool3d(const Tensor& x, const AvgPoolOptions& o) { return Pool(3, x, AttrsFrom(o)); }

Tensor AdaptiveAvgPool1d(const Tensor& x, const Sizes& size) { return AdaptivePool(1, x, size); }
Tensor AdaptiveAvgPool2d(const Tensor& x, const Sizes& size) { return AdaptivePool(2, x, size); }
Tensor AdaptiveAvgPool3d(const Tensor& x, const Sizes& size) { return AdaptivePool(3, x, size); }

}  // namespace firn

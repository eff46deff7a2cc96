// max_pool1d, 2d, 3d, with fixed and adaptive windows. The gradient is a scatter through the
// indices (max_unpool.cc).
//
// Indices count positions in the channel's image and are i32 inside; they lie in the layout of the
// values, so a blocked tensor's lanes find theirs side by side.

#include "firn/tensor/ops/pool/max_pool.h"

#include <algorithm>
#include <utility>

#include "firn/device/parallel.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/channels.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/pool/max_pool_body.h"
#include "firn/tensor/ops/pool/max_unpool.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/pool_problem.h"

namespace firn {
namespace {

// Whether a window along one axis may lie completely in the padding, which dilation makes possible.
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
                   InvalidArgument(
                       "x ", x.ToString(),
                       " has images of more than 2^31 - 1 elements, whose places i32 cannot hold"));
    elements *= side;
  }
  FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(x[0], x[1], out));
  c.set_out(0, c.dtype(0), y);
  c.set_out(1, DType::kI32, y);
  return absl::OkStatus();
}

// Line `line` of a plane's outputs, of pixels of `pitch` channels.
template <class T>
void MaxLine(const T* plane, int64_t pitch, const PoolAxes& axes, int64_t line, T* y,
             int32_t* index) {
  const PoolSpan slices = axes.d.Window(line / axes.h.out), rows = axes.h.Window(line % axes.h.out);
  for (int64_t j = 0; j < axes.w.out; ++j) {
    const PoolSpan columns = axes.w.Window(j);
    for (int64_t c = 0; c < pitch; c += kChannelBlock) {
      cpu::MaxWindow<static_cast<int>(kChannelBlock)>(plane + c, pitch, axes, slices, rows, columns,
                                                      y + j * pitch + c, index + j * pitch + c);
    }
  }
}

// Convolutions of bytes give images of floats that are channels-last.
void Layouts(const KernelQuery& q, LayoutRequest& want) {
  const TensorSpec& x = q.in(0);
  if (x.dtype != DType::kF32 || !IsChannelsLast(x) || x.shape[1] % kChannelBlock != 0) {
    return cpu::ChannelLayouts(q, want);
  }
  want.in[0] = x.layout.channel_block;
  want.out[0] = want.out[1] = ChannelsLastBlock(q.out().shape);
}

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
        cpu::MaxPlaneRows<T> rows(axes);
        for (int64_t plane = begin; plane < end; plane += rows.together()) {
          rows.Rows(x + plane * axes.image(), std::min(rows.together(), end - plane),
                    y + plane * axes.pixels(), index + plane * axes.pixels());
        }
      });
      return;
    }
    const int64_t lines = axes.d.out * axes.h.out, pitch = view.block;
    const int64_t work = std::max<int64_t>(1, image / std::max<int64_t>(1, lines) * pitch);
    ParallelFor(planes * lines, std::max<int64_t>(1, 16384 / work),
                [&](int64_t begin, int64_t end) {
                  for (int64_t line = begin; line < end; ++line) {
                    const int64_t to = line * axes.w.out * pitch;
                    MaxLine(x + line / lines * axes.image() * pitch, pitch, axes, line % lines,
                            y + to, index + to);
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
      .kernels = {{.name = "loop", .layouts = Layouts, .run = Run}},
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

void MaxPoolOptions::Check(const char* where) const {
  RaiseIfError(CheckWindows(AttrsOf(*this)), where);
}

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

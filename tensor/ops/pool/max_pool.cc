// max_pool2d, its gradient (a scatter through the saved indices) and that one's gradient (a
// gather).
//
// Indices count positions in the channel's image and are i32 inside; they lie in the layout of the
// values, so a blocked tensor's lanes find theirs side by side.

#include "tensor/ops/pool/max_pool.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/planes.h"
#include "tensor/op.h"
#include "tensor/ops/pool/pool_window.h"
#include "tensor/ops/shape/convert.h"

namespace firn {
namespace {

Tensor MaxPool2dGather(const Tensor& image, const Tensor& indices);
Tensor GradWith(const Tensor& grad, const Tensor& indices, const PoolAttrs& attrs);

// Whether a window along one axis lies in the padding as a whole, which dilation makes possible.
bool AnyEmptyWindow(int64_t out, int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                    int64_t dilation) {
  const auto empty = [&](int64_t o) {
    const PoolSpan span = PoolWindow(o, in, kernel, stride, padding, dilation, 0);
    return span.begin >= span.end;
  };
  for (int64_t o = 0; o < out && o * stride < padding; ++o) {
    if (empty(o)) return true;
  }
  return out > 0 && empty(out - 1);
}

absl::Status Infer(InferContext& c) {
  const Shape& x = c.shape(0);
  const PoolAttrs& a = c.attrs<PoolAttrs>();
  FIRN_RETURN_IF(a.is_adaptive(), InvalidArgument("maxima have no adaptive windows"));
  FIRN_ASSIGN_OR_RETURN(const Sizes out, PoolOutputSize(ImageOf(x), a));
  FIRN_RETURN_IF(
      AnyEmptyWindow(out[0], x[2], a.kernel[0], a.stride[0], a.padding[0], a.dilation[0]) ||
          AnyEmptyWindow(out[1], x[3], a.kernel[1], a.stride[1], a.padding[1], a.dilation[1]),
      InvalidArgument("a window of x ", x.ToString(), " holds nothing but padding"));
  FIRN_RETURN_IF(x[2] * x[3] > INT32_MAX, InvalidArgument("images of more than 2^31 - 1 elements"));
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

// One output pixel of `kBlock` channels. The first NaN wins, else the first of the largest.
template <int kBlock, class T>
void Window(const T* plane, const PoolSpan& rows, const PoolSpan& cols, const Sizes& dilation,
            int64_t width, T* y, int32_t* index) {
  using C = AccumulatorOf<T>;
  using Lanes = LanesOf<C, kBlock>;
  using Values = typename Lanes::Values;
  using Places = typename Lanes::Places;
  using Integer = typename Lanes::Integer;
  Values best = Values{} - std::numeric_limits<C>::infinity();
  Places at = Places{} + static_cast<Integer>(rows.begin * width + cols.begin);
  for (int64_t i = rows.begin; i < rows.end; i += dilation[0]) {
    for (int64_t j = cols.begin; j < cols.end; j += dilation[1]) {
      const T* x = plane + (i * width + j) * kBlock;
      Values v;
      for (int b = 0; b < kBlock; ++b) v[b] = static_cast<C>(x[b]);
      const Places wins = (v > best) | ((v != v) & (best == best));
      best = wins ? v : best;
      at = wins ? Places{} + static_cast<Integer>(i * width + j) : at;
    }
  }
  for (int b = 0; b < kBlock; ++b) {
    y[b] = static_cast<T>(best[b]);
    index[b] = static_cast<int32_t>(at[b]);
  }
}

absl::Status Run(KernelContext& k) {
  const PoolAttrs& a = k.attrs<PoolAttrs>();
  const Sizes in = ImageOf(k.in_spec(0).shape), out = ImageOf(k.out_spec().shape);
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const T* x = k.in<T>(0);
    T* y = k.out<T>(0);
    int32_t* index = k.out<int32_t>(1);
    cpu::ForEachPlane(k.in_spec(0), in[0] * in[1], [&](int64_t plane, auto block) {
      constexpr int kBlock = decltype(block)::value;
      for (int64_t i = 0; i < out[0]; ++i) {
        const PoolSpan rows =
            PoolWindow(i, in[0], a.kernel[0], a.stride[0], a.padding[0], a.dilation[0], 0);
        for (int64_t j = 0; j < out[1]; ++j) {
          const PoolSpan cols =
              PoolWindow(j, in[1], a.kernel[1], a.stride[1], a.padding[1], a.dilation[1], 0);
          const int64_t to = ((plane * out[0] + i) * out[1] + j) * kBlock;
          Window<kBlock>(x + plane * in[0] * in[1] * kBlock, rows, cols, a.dilation, in[1], y + to,
                         index + to);
        }
      }
    });
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  PoolAttrs a = g.attrs<PoolAttrs>();
  a.image = ImageOf(g.input_shape(0));
  g.set_grad_input(0, GradWith(g.grad_output(), g.output(1), a));
}

FIRN_REGISTER_OP(max_pool2d) {
  return {
      .doc = "The largest element of each window, and where it was.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 4, .max_rank = 4}},
      .outputs = {{.name = "y"}, {.name = "indices"}},
      .attrs = AttrsOf<PoolAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Output(1)},
      .kernels = {{.name = "loop", .layouts = cpu::ChannelLayouts, .run = Run}},
  };
}

// --- Scatter and gather through indices ----------------------------------------------------------

absl::Status CheckIndicesShape(InferContext& c, bool same_image) {
  const Shape &values = c.shape(0), &indices = c.shape(1);
  const bool fits =
      same_image ? values == indices : values[0] == indices[0] && values[1] == indices[1];
  FIRN_RETURN_IF(
      !fits, InvalidArgument("indices ", indices.ToString(), " do not fit ", values.ToString()));
  return absl::OkStatus();
}

absl::Status InferScatter(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckIndicesShape(c, true));
  const PoolAttrs& a = c.attrs<PoolAttrs>();
  FIRN_RETURN_IF(a.is_adaptive(), InvalidArgument("maxima have no adaptive windows"));
  const Shape& g = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const Sizes image, internal::FittedOption("image", a.image, g.rank() - 2));
  if (a.knows_windows()) {
    FIRN_ASSIGN_OR_RETURN(const Sizes out, PoolOutputSize(image, a));
    FIRN_RETURN_IF(ImageOf(g) != out,
                   InvalidArgument("values ", g.ToString(), ", want one for each of the ", out[0],
                                   " x ", out[1], " windows"));
  }
  FIRN_ASSIGN_OR_RETURN(const Shape x, ShapeOfImages(g[0], g[1], image));
  c.set_out(0, c.dtype(0), x);
  return absl::OkStatus();
}

absl::Status InferGather(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckIndicesShape(c, false));
  c.set_out(0, c.dtype(0), c.shape(1));
  return absl::OkStatus();
}

absl::Status RunScatter(KernelContext& k) {
  const int64_t pixels = ImageOf(k.in_spec(0).shape).volume();
  const int64_t image = ImageOf(k.out_spec().shape).volume();
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    constexpr bool kDirect = std::is_same_v<T, Acc>;
    const T* g = k.in<T>(0);
    const int32_t* index = k.in<int32_t>(1);
    T* x = k.out<T>();
    Acc* sums = kDirect ? reinterpret_cast<Acc*>(x) : k.workspace<Acc>();
    cpu::ForEachPlane(k.out_spec(), image, [&](int64_t plane, auto block) {
      constexpr int kBlock = decltype(block)::value;
      const int64_t begin = plane * image * kBlock, n = image * kBlock;
      Acc* to = sums + begin;
      const int64_t from = plane * pixels * kBlock;
      std::fill(to, to + n, Acc(0));
      for (int64_t i = 0; i < pixels * kBlock; ++i) {
        to[int64_t{index[from + i]} * kBlock + i % kBlock] += static_cast<Acc>(g[from + i]);
      }
      if constexpr (!kDirect) {
        for (int64_t i = 0; i < n; ++i) x[begin + i] = static_cast<T>(to[i]);
      }
    });
  });
  return absl::OkStatus();
}

absl::Status RunGather(KernelContext& k) {
  const int64_t image = ImageOf(k.in_spec(0).shape).volume();
  const int64_t pixels = ImageOf(k.out_spec().shape).volume();
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const T* x = k.in<T>(0);
    const int32_t* index = k.in<int32_t>(1);
    T* y = k.out<T>();
    cpu::ForEachPlane(k.out_spec(), pixels, [&](int64_t plane, auto block) {
      constexpr int kBlock = decltype(block)::value;
      const T* from = x + plane * image * kBlock;
      const int64_t to = plane * pixels * kBlock;
      for (int64_t i = 0; i < pixels * kBlock; ++i) {
        y[to + i] = from[int64_t{index[to + i]} * kBlock + i % kBlock];
      }
    });
  });
  return absl::OkStatus();
}

// Values and indices pair up element by element, so both take the values' blocks.
void PairedLayouts(const KernelQuery& q, LayoutRequest& want) {
  const bool blocked = q.in(0).layout.blocked() || q.in(1).layout.blocked();
  want.in[0] = want.in[1] = want.out[0] = blocked ? cpu::KernelBlock(q.in(0).shape) : 0;
}

absl::StatusOr<IndexBounds> ScatterBounds(const KernelQuery& q, int) {
  const Sizes image = q.attrs<PoolAttrs>().image.Over(2);
  return IndexBounds{0, image.volume()};
}
absl::StatusOr<IndexBounds> GatherBounds(const KernelQuery& q, int) {
  return IndexBounds{0, q.in(0).shape[2] * q.in(0).shape[3]};
}

void ScatterGrad(GradContext& g) {
  g.set_grad_input(0, MaxPool2dGather(g.grad_output(), g.input(1)));
}
void GatherGrad(GradContext& g) {
  g.set_grad_input(0, MaxPool2dGrad(g.grad_output(), g.input(1), ImageOf(g.input_shape(0))));
}

const std::vector<ArgDecl>& PairInputs() {
  static const auto* inputs = new std::vector<ArgDecl>{
      {.name = "values", .dtypes = kFloating, .min_rank = 4, .max_rank = 4},
      {.name = "indices", .dtypes = SetOf(DType::kI32), .min_rank = 4, .max_rank = 4}};
  return *inputs;
}

FIRN_REGISTER_OP(max_pool2d_grad) {
  return {
      .doc =
          "Adds values to the image positions that indices name. With a kernel other than 0 each "
          "lies in the window of its value.",
      .inputs = PairInputs(),
      .outputs = {{.name = "image"}},
      .attrs = AttrsOf<PoolAttrs>(),
      .infer = InferScatter,
      .grad = ScatterGrad,
      .saves = {Saved::Input(1)},
      .index_bounds = ScatterBounds,
      .index_inputs = {1},
      .kernels = {{.name = "loop",
                   .workspace = internal::PoolSumsBytes,
                   .layouts = PairedLayouts,
                   .run = RunScatter}},
  };
}

FIRN_REGISTER_OP(max_pool2d_gather) {
  return {
      .doc = "Reads an image at the positions that indices name.",
      .inputs = PairInputs(),
      .outputs = {{.name = "values"}},
      .infer = InferGather,
      .grad = GatherGrad,
      .saves = {Saved::Input(1)},
      .index_bounds = GatherBounds,
      .index_inputs = {1},
      .kernels = {{.name = "loop", .layouts = PairedLayouts, .run = RunGather}},
  };
}

Tensor MaxPool2dGather(const Tensor& image, const Tensor& indices) {
  return Apply1(TheOp<"max_pool2d_gather">(), {image, indices});
}

Tensor GradWith(const Tensor& grad, const Tensor& indices, const PoolAttrs& attrs) {
  return Apply1(TheOp<"max_pool2d_grad">(), {grad, indices}, attrs);
}

TensorList Forward(const Tensor& x, const MaxPool2dOptions& o) {
  return Apply(TheOp<"max_pool2d">(), {x},
               PoolAttrs{.kernel = o.kernel,
                         .stride = o.stride.value_or(o.kernel),
                         .padding = o.padding,
                         .dilation = o.dilation,
                         .ceil_mode = o.ceil_mode});
}

}  // namespace

Tensor MaxPool2d(const Tensor& x, const MaxPool2dOptions& options) {
  return std::move(Forward(x, options)[0]);
}

ValuesIndices MaxPool2dWithIndices(const Tensor& x, const MaxPool2dOptions& options) {
  TensorList out = Forward(x, options);
  return {out[0], Cast(out[1], DType::kI64)};
}

Tensor inner::MaxPool2dGrad(const Tensor& grad, const Tensor& indices, const Sizes& image) {
  return GradWith(grad, indices, PoolAttrs{.kernel = 0, .image = image});
}

}  // namespace firn

// Scatter and gather through the indices of max pooling, in images of any number of dimensions: the
// gradient of max pooling adds, max_unpool2d puts in place, and the gradient of either gathers.

#include "firn/tensor/ops/pool/max_unpool.h"

#include <algorithm>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/planes.h"
#include "firn/tensor/kernels/cpu/spread_planes.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/pool_problem.h"

namespace firn {
namespace {

int64_t PixelsOf(const TensorSpec& s) { return ImageOf(s.shape).volume(); }

// Values and indices pair up element by element, so both take the values' blocks.
void PairedLayouts(const KernelQuery& q, LayoutRequest& want) {
  const bool blocked = q.in(0).layout.blocked() || q.in(1).layout.blocked();
  want.in[0] = want.in[1] = want.out[0] = blocked ? cpu::KernelBlock(q.in(0).shape) : 0;
}

std::vector<ArgDecl> Inputs(int dims) {
  const int rank = dims + 2;
  return {{.name = "values", .dtypes = kFloating, .min_rank = rank, .max_rank = rank},
          {.name = "indices", .dtypes = kIndex, .min_rank = rank, .max_rank = rank}};
}

absl::Status CheckPaired(InferContext& c) {
  FIRN_RETURN_IF(c.shape(0) != c.shape(1),
                 InvalidArgument("indices ", c.shape(1).ToString(), " do not fit values ",
                                 c.shape(0).ToString(), " (want the same shape)"));
  return absl::OkStatus();
}

// --- Adding: the gradient of max pooling ---------------------------------------------------------

absl::Status InferAdd(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckPaired(c));
  const PoolAttrs& a = c.attrs<PoolAttrs>();
  const Shape& g = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const Sizes image, internal::FittedOption("image", a.image, g.rank() - 2));
  if (a.knows_windows()) {
    FIRN_ASSIGN_OR_RETURN(const Sizes out, PoolOutputSize(image, a));
    FIRN_RETURN_IF(ImageOf(g) != out,
                   InvalidArgument("values ", g.ToString(), ", want one for each of the ",
                                   out.ToString(), " windows"));
  }
  FIRN_ASSIGN_OR_RETURN(const Shape x, ShapeOfImages(g[0], g[1], image));
  c.set_out(0, c.dtype(0), x);
  return absl::OkStatus();
}

template <class T, class I>
void Add(KernelContext& k) {
  const int64_t pixels = PixelsOf(k.in_spec(0)), image = PixelsOf(k.out_spec());
  const I* const index = k.in<I>(1);
  cpu::SpreadPlanes<T>(
      k, [=](int64_t first, int64_t planes, const auto* values, auto* sums, auto block) {
        constexpr int kBlock = decltype(block)::value;
        const int64_t n = pixels * kBlock;
        for (int64_t plane = 0; plane < planes; ++plane) {
          const I* const places = index + (first + plane) * n;
          const auto* const v = values + plane * n;
          auto* const to = sums + plane * image * kBlock;
          for (int64_t i = 0; i < n; ++i) to[int64_t{places[i]} * kBlock + i % kBlock] += v[i];
        }
      });
}

absl::Status RunAdd(KernelContext& k) {
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) { Add<T, I>(k); });
  });
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> AddBounds(const KernelQuery& q, int) {
  return IndexBounds{0, q.attrs<PoolAttrs>().image.Over(q.in(0).shape.rank() - 2).volume()};
}

Tensor Gather(const Tensor& image, const Tensor& indices);

void GradOfScatter(GradContext& g) { g.set_grad_input(0, Gather(g.grad_output(), g.input(1))); }

OpDef AddOp(int dims) {
  return {
      .doc =
          "Adds values to the image positions that indices name. With a kernel other than 0 each "
          "lies in the window of its value.",
      .inputs = Inputs(dims),
      .outputs = {{.name = "image"}},
      .attrs = AttrsOf<PoolAttrs>(),
      .infer = InferAdd,
      .grad = GradOfScatter,
      .saves = {Saved::Input(1)},
      .index_bounds = AddBounds,
      .index_inputs = {1},
      .kernels = {{.name = "loop",
                   .workspace = cpu::SpreadPlanesBytes,
                   .layouts = PairedLayouts,
                   .run = RunAdd}},
  };
}

FIRN_REGISTER_OP(max_pool1d_grad) { return AddOp(1); }
FIRN_REGISTER_OP(max_pool2d_grad) { return AddOp(2); }
FIRN_REGISTER_OP(max_pool3d_grad) { return AddOp(3); }

// --- Reading -------------------------------------------------------------------------------------

absl::Status InferGather(InferContext& c) {
  const Shape &image = c.shape(0), &indices = c.shape(1);
  FIRN_RETURN_IF(image[0] != indices[0] || image[1] != indices[1],
                 InvalidArgument("indices ", indices.ToString(), " do not fit ", image.ToString()));
  c.set_out(0, c.dtype(0), indices);
  return absl::OkStatus();
}

absl::Status RunGather(KernelContext& k) {
  const int64_t image = PixelsOf(k.in_spec(0)), pixels = PixelsOf(k.out_spec());
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
      const T* x = k.in<T>(0);
      const I* index = k.in<I>(1);
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
  });
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> GatherBounds(const KernelQuery& q, int) {
  return IndexBounds{0, PixelsOf(q.in(0))};
}

void GradOfGather(GradContext& g) {
  g.set_grad_input(0, MaxPoolGrad(g.grad_output(), g.input(1),
                                  PoolAttrs{.kernel = 0, .image = ImageOf(g.input_shape(0))}));
}

OpDef GatherOp(int dims) {
  return {
      .doc = "Reads an image at the positions that indices name.",
      .inputs = Inputs(dims),
      .outputs = {{.name = "values"}},
      .infer = InferGather,
      .grad = GradOfGather,
      .saves = {Saved::Input(1)},
      .index_bounds = GatherBounds,
      .index_inputs = {1},
      .kernels = {{.name = "loop", .layouts = PairedLayouts, .run = RunGather}},
  };
}

FIRN_REGISTER_OP(max_pool1d_gather) { return GatherOp(1); }
FIRN_REGISTER_OP(max_pool2d_gather) { return GatherOp(2); }
FIRN_REGISTER_OP(max_pool3d_gather) { return GatherOp(3); }

Tensor Gather(const Tensor& image, const Tensor& indices) {
  const OpDef& op =
      OpOfDims<"max_pool1d_gather", "max_pool2d_gather", "max_pool3d_gather">(image.rank() - 2);
  return Apply1(op, {image, indices});
}

// --- Putting in place ----------------------------------------------------------------------------

absl::Status InferPut(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckPaired(c));
  const Shape& x = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(
      const Sizes image,
      internal::FittedOption("output_size", c.attrs<UnpoolAttrs>().output_size, x.rank() - 2));
  FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(x[0], x[1], image));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

absl::Status RunPut(KernelContext& k) {
  const int64_t pixels = PixelsOf(k.in_spec(0)), image = PixelsOf(k.out_spec());
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
      const T* x = k.in<T>(0);
      const I* index = k.in<I>(1);
      T* y = k.out<T>();
      cpu::ForEachPlane(k.out_spec(), image, [&](int64_t plane, auto block) {
        constexpr int kBlock = decltype(block)::value;
        T* to = y + plane * image * kBlock;
        const int64_t from = plane * pixels * kBlock;
        std::fill(to, to + image * kBlock, T(0));
        for (int64_t i = from; i < from + pixels * kBlock; ++i) {
          to[int64_t{index[i]} * kBlock + i % kBlock] = x[i];
        }
      });
    });
  });
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> PutBounds(const KernelQuery& q, int) {
  return IndexBounds{0, q.attrs<UnpoolAttrs>().output_size.Over(q.in(0).shape.rank() - 2).volume()};
}

FIRN_REGISTER_OP(max_unpool2d) {
  return {
      .doc = "Puts values at the image positions that indices name, the last of those at one.",
      .inputs = Inputs(2),
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<UnpoolAttrs>(),
      .infer = InferPut,
      .grad = GradOfScatter,
      .saves = {Saved::Input(1)},
      .index_bounds = PutBounds,
      .index_inputs = {1},
      .kernels = {{.name = "loop", .layouts = PairedLayouts, .run = RunPut}},
  };
}

// The default size of the image: the one from which pooling with these windows gives `pooled`.
absl::StatusOr<Sizes> UnpooledSize(const Sizes& pooled, const MaxUnpool2dOptions& o) {
  const int dims = pooled.count();
  if (o.output_size.given()) {
    return internal::CheckedOption("output_size", o.output_size, 0, dims);
  }
  FIRN_ASSIGN_OR_RETURN(const Sizes kernel, internal::CheckedOption("kernel", o.kernel, 1, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes stride,
                        internal::CheckedOption("stride", o.stride.Or(o.kernel), 1, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes padding,
                        internal::CheckedOption("padding", o.padding, 0, dims));
  Sizes image = pooled;
  for (int i = 0; i < dims; ++i) {
    FIRN_RETURN_IF(pooled[i] > internal::kMaxImage / stride[i],
                   InvalidArgument("x has images of ", pooled.ToString(),
                                   ", which are too large (want a result of at most ",
                                   internal::kMaxImage, " each way)"));
    image.set(i, (pooled[i] - 1) * stride[i] - 2 * padding[i] + kernel[i]);
  }
  return image;
}

}  // namespace

Tensor MaxUnpool2d(const Tensor& x, const Tensor& indices, const MaxUnpool2dOptions& o) {
  const OpDef& op = TheOp<"max_unpool2d">();
  if (LacksBatch(x, 2, op.name)) {
    CheckDefined(indices, op.name, "indices");
    return Squeeze(MaxUnpool2d(Unsqueeze(x, 0), Unsqueeze(indices, 0), o), 0);
  }
  CheckDefined(x, op.name);
  const absl::StatusOr<Sizes> image = UnpooledSize(ImageOf(x.shape()), o);
  RaiseIfError(image.status(), op.name);
  return Apply1(op, {x, indices}, UnpoolAttrs{*image});
}

Tensor inner::MaxPoolGrad(const Tensor& grad, const Tensor& indices, const PoolAttrs& attrs) {
  const OpDef& op =
      OpOfDims<"max_pool1d_grad", "max_pool2d_grad", "max_pool3d_grad">(grad.rank() - 2);
  return Apply1(op, {grad, indices}, attrs);
}

}  // namespace firn

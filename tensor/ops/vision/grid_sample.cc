// grid_sample, its gradient to image and grid at once, and the grids of affine maps and flows.

#include "firn/tensor/ops/vision/grid_sample.h"

#include <algorithm>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/composite_gradient.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/grid_sample_blocks_body.h"
#include "firn/tensor/ops/vision/in_float.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

// The shape of the result, of the shapes of x and grid.
absl::StatusOr<Shape> SampledShape(const Shape& x, const Shape& grid, const GridSampleAttrs& a) {
  const int dims = x.rank() - 2;
  FIRN_RETURN_IF(grid.rank() != x.rank() || grid[0] != x[0] || grid[grid.rank() - 1] != dims,
                 InvalidArgument("grid ", grid.ToString(), " does not fit x ", x.ToString(),
                                 ": expected [n, ", dims == 2 ? "h, w, 2]" : "d, h, w, 3]"));
  FIRN_RETURN_IF(a.mode == GridSampleMode::kCubic && dims != 2,
                 InvalidArgument("mode bicubic is for images, got x ", x.ToString()));
  Dims sizes = grid.dims();
  sizes[1] = x[1];
  for (int i = 0; i < dims; ++i) {
    FIRN_RETURN_IF(x[i + 2] == 0, InvalidArgument("x ", x.ToString(), " has nothing to sample"));
    sizes[i + 2] = grid[i + 1];
  }
  return Shape::Make(sizes.span());
}

absl::Status InferGridSample(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape,
                        SampledShape(c.shape(0), c.shape(1), c.attrs<GridSampleAttrs>()));
  c.set_out(0, c.in(0).dtype, shape);
  return absl::OkStatus();
}

absl::Status InferGridSampleGrad(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape,
                        SampledShape(c.shape(1), c.shape(2), c.attrs<GridSampleAttrs>()));
  FIRN_RETURN_IF(c.shape(0) != shape,
                 InvalidArgument("dy ", c.shape(0).ToString(), ", want ", shape.ToString()));
  c.set_out(0, c.in(1).dtype, c.shape(1));
  c.set_out(1, c.in(2).dtype, c.shape(2));
  return absl::OkStatus();
}

void GradGridSample(GradContext& g) {
  if (GradEnabled()) {
    return CompositeGradient(g, [&](const std::vector<Tensor>& in) {
      return SampledByOperations(in[0], in[1], g.attrs<GridSampleAttrs>());
    });
  }
  const TensorList grads =
      Apply(TheOp<"grid_sample_grad">(), {g.grad_output(), g.input(0), g.input(1)},
            g.attrs<GridSampleAttrs>());
  for (int i = 0; i < 2; ++i) {
    if (g.needs(i)) g.set_grad_input(i, grads[static_cast<size_t>(i)]);
  }
}

// The portable kernel by blocks, of planes that input `kX` has.
template <class Portable, int kX>
std::vector<Kernel> WithBlocks() {
  const auto supports = [](const KernelQuery& q) {
    return cpu::SupportsGridBlocks(q.in(kX).shape);
  };
  const auto run = [](KernelContext& k) { return Portable::Run(cpu::GridBlocksRunner(), k); };
  return cpu::Portable<Portable>({.name = "loop"},
                                 {{.name = "blocks", .supports = supports, .run = run}});
}

FIRN_REGISTER_OP(grid_sample) {
  return {
      .doc = "x at the places of a grid.",
      .inputs = {{.name = "x", .dtypes = kStatistics, .min_rank = 4, .max_rank = 5},
                 {.name = "grid", .same_dtype_as = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<GridSampleAttrs>(),
      .infer = InferGridSample,
      .grad = GradGridSample,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = WithBlocks<GridSampleKernel, 0>(),
  };
}

FIRN_REGISTER_OP(grid_sample_grad) {
  return {
      .doc = "The gradient of grid_sample. Not differentiable: recorded gradients do without it.",
      .inputs = {{.name = "dy", .dtypes = kStatistics, .min_rank = 4, .max_rank = 5},
                 {.name = "x", .same_dtype_as = "dy", .min_rank = 4, .max_rank = 5},
                 {.name = "grid", .same_dtype_as = "dy"}},
      .outputs = {{.name = "dx"}, {.name = "dgrid"}},
      .attrs = AttrsOf<GridSampleAttrs>(),
      .infer = InferGridSampleGrad,
      .kernels = WithBlocks<GridSampleGradKernel, 1>(),
  };
}

// The middles of `size` elements, from -1 to 1, along dimension `dim` of `rank`.
Tensor Middles(int64_t size, int dim, int rank, bool align, const Tensor& like) {
  const double n = static_cast<double>(size);
  const double first = align ? -1 : 1 / n - 1, last = align ? 1 : 1 - 1 / n;
  const Tensor line = size == 1 ? Zeros({1}, like.dtype(), like.device())
                                : Linspace(first, last, size, like.dtype(), like.device());
  Dims sizes;
  sizes.rank = rank;
  for (int i = 0; i < rank; ++i) sizes[i] = i == dim ? size : 1;
  return Reshape(line, Shape(sizes.span()));
}

Tensor Sampled(const Tensor& x, const Tensor& grid, const GridSampleAttrs& attrs) {
  const OpDef& op = TheOp<"grid_sample">();
  CheckDefined(x, op.name);
  CheckDefined(grid, op.name, "grid");
  return ApplyInFloat(op, {x, grid}, attrs);
}

}  // namespace

Tensor GridSample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  return Sampled(x, grid, {options});
}

Tensor inner::SampleElements(const Tensor& x, const Tensor& places,
                             const GridSampleOptions& options) {
  return Sampled(x, places, {options, true});
}

Tensor AffineGrid(const Tensor& theta, const Shape& size, Flag align_corners) {
  CheckDefined(theta, "affine_grid", "theta");
  const int dims = size.rank() - 2;
  const bool fits = (dims == 2 || dims == 3) && IsFloating(theta.dtype()) &&
                    theta.shape() == Shape({size[0], dims, dims + 1}) && size.num_elements() > 0;
  if (!fits) {
    RaiseStatus(InvalidArgument("expected theta [n, 2, 3] for a size [n, c, h, w] or [n, 3, 4] for "
                                "[n, c, d, h, w], got ",
                                theta.spec().ToString(), " for ", size.ToString()),
                "affine_grid");
  }
  // x, y, (z,) 1 of every place: [places, dims + 1].
  Dims places;
  places.rank = dims;
  for (int i = 0; i < dims; ++i) places[i] = size[i + 2];
  const Shape shape(places.span());
  std::vector<Tensor> columns;
  for (int i = dims - 1; i >= 0; --i) {
    columns.push_back(Reshape(Expand(Middles(shape[i], i, dims, align_corners, theta), shape),
                              {shape.num_elements(), 1}));
  }
  columns.push_back(Ones({shape.num_elements(), 1}, theta.dtype(), theta.device()));
  const Tensor grid = Matmul(Concat(columns, 1), Transpose(theta, 1, 2));
  Dims sizes;
  sizes.rank = dims + 2;
  sizes[0] = size[0];
  for (int i = 0; i < dims; ++i) sizes[i + 1] = size[i + 2];
  sizes[dims + 1] = dims;
  return Reshape(grid, Shape(sizes.span()));
}

Tensor WarpByFlow(const Tensor& x, const Tensor& flow) {
  CheckDefined(x, "warp_by_flow");
  CheckDefined(flow, "warp_by_flow", "flow");
  const int dims = x.rank() - 2;
  bool fits = (dims == 2 || dims == 3) && flow.rank() == x.rank() && flow.dtype() == x.dtype() &&
              flow.size(0) == x.size(0) && flow.size(1) == dims && IsFloating(x.dtype());
  for (int i = 0; fits && i < dims; ++i) fits = flow.size(i + 2) == x.size(i + 2);
  if (!fits) {
    RaiseStatus(InvalidArgument("expected x [n, c, h, w] and flow [n, 2, h, w], or volumes, got ",
                                x.spec().ToString(), " and ", flow.spec().ToString()),
                "warp_by_flow");
  }
  // Half types would be off by whole elements of wide images.
  const DType wide = ComputeDType(x.dtype());
  if (wide != x.dtype()) return Cast(WarpByFlow(Cast(x, wide), Cast(flow, wide)), x.dtype());
  // Counted in elements, which f32 has more exactly than numbers from -1 to 1 near an edge.
  std::vector<Tensor> numbers;
  for (int i = 0; i < dims; ++i) {
    const int dim = dims - 1 - i;  // channel 0 is along the last dimension
    Dims line(dims + 1, 1);
    line[dim + 1] = x.size(dim + 2);
    const Tensor count =
        Arange(int64_t{0}, x.size(dim + 2), int64_t{1}, {.dtype = x.dtype(), .device = x.device()});
    numbers.push_back(Add(Select(flow, 1, i), Reshape(count, Shape(line.span()))));
  }
  return SampleElements(x, Stack(numbers, -1),
                        {.padding = GridSamplePadding::kBorder, .align_corners = true});
}

}  // namespace firn

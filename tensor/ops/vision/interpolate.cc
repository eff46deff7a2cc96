// Interpolate is separable: one resample for each dimension whose size or places change. The outer
// dimensions come first, whose rows are added up as vectors while they are still short.

#include "firn/tensor/ops/vision/interpolate.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/vision/interpolate_body.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

bool IsNearest(InterpolateMode mode) {
  return mode == InterpolateMode::kNearest || mode == InterpolateMode::kNearestExact;
}

absl::Status InferTo(InferContext& c, int64_t from, int64_t to) {
  const ResampleAttrs& a = c.attrs<ResampleAttrs>();
  const Shape& x = c.shape(0);
  FIRN_RETURN_IF(
      a.dim < 0 || a.dim >= x.rank() || a.in < 1 || a.out < 1 || x[static_cast<int>(a.dim)] != from,
      InvalidArgument("x ", x.ToString(), " has no dimension ", a.dim, " of size ", from,
                      " to give one of ", to));
  FIRN_RETURN_IF(a.mode > InterpolateMode::kCubic, InvalidArgument("mode area is no resampling"));
  FIRN_RETURN_IF(IsNearest(a.mode) && (a.antialias || a.align_corners),
                 InvalidArgument("antialias and align_corners are for linear and cubic"));
  // Far beyond what a scale_factor can be: places are then no integers of 64 bits any more.
  FIRN_RETURN_IF(!(a.scale >= 0 && a.scale <= 0x1p53 / static_cast<double>(a.out)),
                 InvalidArgument("scale must be 0 or a number of elements, got ", a.scale));
  Dims sizes = x.dims();
  sizes[static_cast<int>(a.dim)] = to;
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, c.in(0).dtype, shape);
  return absl::OkStatus();
}

absl::Status InferResample(InferContext& c) {
  const ResampleAttrs& a = c.attrs<ResampleAttrs>();
  return InferTo(c, a.in, a.out);
}
absl::Status InferResampleGrad(InferContext& c) {
  const ResampleAttrs& a = c.attrs<ResampleAttrs>();
  return InferTo(c, a.out, a.in);
}

void GradResample(GradContext& g) {
  g.set_grad_input(0, ResampleGrad(g.grad_output(), g.attrs<ResampleAttrs>()));
}
void GradResampleGrad(GradContext& g) {
  g.set_grad_input(0, Resample(g.grad_output(), g.attrs<ResampleAttrs>()));
}

FIRN_REGISTER_OP(resample) {
  return {
      .doc = "x at another size of one dimension.",
      .inputs = {{.name = "x", .dtypes = kStatistics}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ResampleAttrs>(),
      .infer = InferResample,
      .grad = GradResample,
      .kernels = cpu::Portable<ResampleKernel>(),
  };
}

FIRN_REGISTER_OP(resample_grad) {
  return {
      .doc = "The adjoint of resample.",
      .inputs = {{.name = "dy", .dtypes = kStatistics}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<ResampleAttrs>(),
      .infer = InferResampleGrad,
      .grad = GradResampleGrad,
      .kernels = cpu::Portable<ResampleGradKernel>(),
  };
}

// x of any dtype at the places of the nearest elements. The quotients are exact where they are
// whole numbers, so that their floors are right.
Tensor Chosen(const Tensor& x, const ResampleAttrs& a) {
  const bool exact = a.mode == InterpolateMode::kNearestExact;
  const Tensor outputs =
      Arange(0.0, static_cast<double>(a.out), 1, {.dtype = DType::kF64, .device = x.device()});
  const Tensor middles = exact ? Add(outputs, 0.5) : outputs;
  const Tensor places =
      a.scale != 0 ? Mul(middles, a.scale) : Div(Mul(middles, a.in), static_cast<double>(a.out));
  return IndexSelect(x, a.dim, Cast(Floor(Clamp(places, 0, a.in - 1)), DType::kI64));
}

[[noreturn]] void Refuse(const absl::Status& status) { RaiseStatus(status, "interpolate"); }

// The sizes of the result, and the scales that its places are computed by.
struct Plan {
  Sizes size;
  double scale[Sizes::kMost] = {};
};

Plan PlanOf(const Tensor& x, const InterpolateOptions& o) {
  const int dims = x.rank() - 2;
  const auto factors = static_cast<int>(o.scale_factor.size());
  if (o.size.given() == (factors > 0)) {
    Refuse(InvalidArgument("expected one of size and scale_factor, got ",
                           factors > 0 ? "both" : "neither"));
  }
  if (factors > 0 ? factors != 1 && factors != dims : !o.size.Fits(dims)) {
    Refuse(InvalidArgument("expected one number or ", dims, " for x ", x.shape().ToString(),
                           ", got ", factors > 0 ? factors : o.size.count()));
  }
  Plan plan{Sizes::Each(dims, 0)};
  for (int i = 0; i < dims; ++i) {
    const int64_t in = x.size(i + 2);
    int64_t out = factors > 0 ? 0 : o.size[i];
    if (factors > 0) {
      const double factor = o.scale_factor[factors == 1 ? 0 : static_cast<size_t>(i)];
      const double size = std::floor(static_cast<double>(in) * factor);
      if (!(factor > 0) || !(size < 0x1p62)) {
        Refuse(InvalidArgument("scale_factor must be above 0 and give a size, got ", factor));
      }
      out = static_cast<int64_t>(size);
      plan.scale[i] = 1 / factor;
    }
    if (out < 1 || in < 1) {
      Refuse(InvalidArgument("dimension ", i + 2, " of x ", x.shape().ToString(),
                             " would get size ", out,
                             ": want 1 or more, of an x that has elements"));
    }
    plan.size.set(i, out);
  }
  return plan;
}

Tensor Area(const Tensor& x, const Sizes& size) {
  return size.count() == 1   ? AdaptiveAvgPool1d(x, size)
         : size.count() == 2 ? AdaptiveAvgPool2d(x, size)
                             : AdaptiveAvgPool3d(x, size);
}

}  // namespace

Tensor inner::Resample(const Tensor& x, const ResampleAttrs& attrs) {
  return Apply1(TheOp<"resample">(), {x}, attrs);
}
Tensor inner::ResampleGrad(const Tensor& dy, const ResampleAttrs& attrs) {
  return Apply1(TheOp<"resample_grad">(), {dy}, attrs);
}

Tensor Interpolate(const Tensor& x, const InterpolateOptions& o) {
  CheckDefined(x, "interpolate");
  if (x.rank() < 3 || x.rank() > 5) {
    Refuse(InvalidArgument("x must be [n, c, w], [n, c, h, w] or [n, c, d, h, w], got ",
                           x.shape().ToString()));
  }
  const bool nearest = IsNearest(o.mode);
  if ((o.antialias || o.align_corners) && (nearest || o.mode == InterpolateMode::kArea)) {
    Refuse(InvalidArgument(o.antialias ? "antialias" : "align_corners",
                           " is for the modes linear and cubic"));
  }
  if (!IsFloating(x.dtype()) && !nearest) {
    Refuse(InvalidArgument("x must be f32, f64, f16 or bf16, or the mode a nearest one, got ",
                           x.spec().ToString()));
  }
  const Plan plan = PlanOf(x, o);
  if (o.mode == InterpolateMode::kArea) return Area(x, plan.size);
  const bool half = x.dtype() == DType::kF16 || x.dtype() == DType::kBF16;
  Tensor y = half ? Cast(x, DType::kF32) : x;
  for (int i = 0; i < plan.size.count(); ++i) {
    const int64_t in = x.size(i + 2), out = plan.size[i];
    const double scale = plan.scale[i];
    // A scale that follows from the sizes is better left to these, because they are exact.
    const bool as_sizes = scale * static_cast<double>(out) == static_cast<double>(in);
    if (in == out && (as_sizes || scale == 0)) continue;
    const ResampleAttrs a{
        i + 2, in, out, o.mode, o.align_corners, o.antialias, as_sizes ? 0 : scale};
    y = IsFloating(x.dtype()) ? Resample(y, a) : Chosen(y, a);
  }
  return half ? Cast(y, x.dtype()) : y;
}

}  // namespace firn

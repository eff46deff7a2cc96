// One pass over x for each, with the channel's scale and zero point held while a run of its
// elements lasts. Half types are converted before and after, because a scale in a half type would
// be too coarse.

#include "firn/tensor/ops/quantize/affine.h"

#include <cmath>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/quantize/affine_body.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/norm_options.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

constexpr DTypeSet kLevels = SetOf(DType::kI8) | SetOf(DType::kU8) | SetOf(DType::kI32);

// Checks that scale and zero point, inputs `i` and the next, fit x.
absl::Status CheckScale(const InferContext& c, const Shape& x, int i, int64_t dim) {
  const Shape &scale = c.shape(i), &zero = c.shape(i + 1);
  FIRN_RETURN_IF(scale != zero, InvalidArgument("scale ", scale.ToString(), " and zero_point ",
                                                zero.ToString(), " must have one shape"));
  if (scale.rank() == 0) return absl::OkStatus();
  FIRN_RETURN_IF(dim < 0 || dim >= x.rank() || x[static_cast<int>(dim)] != scale[0],
                 InvalidArgument("scale ", scale.ToString(), " does not fit dimension ", dim,
                                 " of x ", x.ToString()));
  return absl::OkStatus();
}

absl::Status InferQuantize(InferContext& c) {
  const auto& a = c.attrs<QuantizeAttrs>();
  const bool known = static_cast<unsigned>(a.dtype) < static_cast<unsigned>(kNumDTypes);
  FIRN_RETURN_IF(!known || !Contains(kLevels, a.dtype),
                 InvalidArgument("dtype must be i8, u8 or i32, got ",
                                 known ? DTypeName(a.dtype) : "a number that is none"));
  FIRN_RETURN_IF_ERROR(CheckScale(c, c.shape(0), 1, a.dim));
  c.set_out(0, a.dtype, c.shape(0));
  return absl::OkStatus();
}

// One scale serves elements in any order.
void LayoutsOfOneScale(const KernelQuery& q, LayoutRequest& want) {
  if (q.in(1).shape.rank() == 0) want.in[0] = want.out[0] = q.in(0).layout.channel_block;
}

FIRN_REGISTER_OP(quantize_linear) {
  return {
      .doc = "round(x / scale) + zero_point as integers. Not differentiable.",
      .inputs = {{.name = "x", .dtypes = kStatistics},
                 {.name = "scale", .same_dtype_as = "x", .max_rank = 1},
                 {.name = "zero_point", .dtypes = SetOf(DType::kI32), .max_rank = 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<QuantizeAttrs>(),
      .infer = InferQuantize,
      .kernels = cpu::Portable<QuantizeKernel>({.name = "loop", .layouts = LayoutsOfOneScale}),
  };
}

absl::Status InferDequantize(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckScale(c, c.shape(0), 1, c.attrs<DequantizeAttrs>().dim));
  c.set_out(0, c.dtype(1), c.shape(0));
  return absl::OkStatus();
}

// A scale or zero point with the rank of x and its channels at `dim`.
Tensor Along(const Tensor& scale, int64_t dim, int rank) {
  if (scale.rank() == 0) return scale;
  Dims sizes(rank, 1);
  sizes[static_cast<int>(dim)] = scale.size(0);
  return Reshape(scale, sizes.span());
}

// y is linear in scale: a scale's gradient is the sum over the elements that share it.
void GradDequantize(GradContext& g) {
  const Tensor &dy = g.grad_output(), &x = g.input(0), &zero = g.input(2);
  const int64_t dim = g.attrs<DequantizeAttrs>().dim;
  // Subtracted like in the forward pass, because a float does not hold all numbers of i32.
  const Tensor one = AsDType(Tensor(1), dy.dtype(), dy.device());
  const Tensor levels = Apply1(TheOp<"dequantize_linear">(), {x, Expand(one, zero.shape()), zero},
                               g.attrs<DequantizeAttrs>());
  const Tensor products = Mul(dy, levels);
  if (zero.rank() == 0) return g.set_grad_input(1, products);
  const Shape kept = Along(zero, dim, x.rank()).shape();
  g.set_grad_input(1, Reshape(SumTo(products, kept), zero.shape()));
}

FIRN_REGISTER_OP(dequantize_linear) {
  return {
      .doc = "(x - zero_point) * scale.",
      .inputs = {{.name = "x", .dtypes = kLevels},
                 {.name = "scale", .dtypes = kStatistics, .max_rank = 1},
                 {.name = "zero_point", .dtypes = SetOf(DType::kI32), .max_rank = 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<DequantizeAttrs>(),
      .infer = InferDequantize,
      .grad = GradDequantize,
      .saves = {Saved::Input(0), Saved::Input(2)},
      .kernels = cpu::Portable<DequantizeKernel>(),
  };
}

absl::Status CheckRange(const FakeQuantizeAttrs& a) {
  constexpr int64_t kMost = 1 << 24;
  FIRN_RETURN_IF(
      a.qmin > a.qmax || a.qmin < -kMost || a.qmax > kMost,
      InvalidArgument("expected -2^24 <= qmin <= qmax <= 2^24, got ", a.qmin, " and ", a.qmax));
  return absl::OkStatus();
}

absl::Status InferFakeQuantize(InferContext& c) {
  const auto& a = c.attrs<FakeQuantizeAttrs>();
  FIRN_RETURN_IF_ERROR(CheckRange(a));
  FIRN_RETURN_IF_ERROR(CheckScale(c, c.shape(0), 1, a.dim));
  return InferLikeInput(c);
}

Tensor NoGradient(const TensorSpec& of) { return ExpandedZeros(of.shape, of.dtype, of.device); }

Tensor FakeQuantizeGrad(const Tensor& dy, GradContext& g, int x) {
  return Apply1(TheOp<"fake_quantize_grad">(), {dy, g.input(x), g.input(x + 1), g.input(x + 2)},
                g.attrs<FakeQuantizeAttrs>());
}

void GradFakeQuantize(GradContext& g) {
  if (g.needs(0)) g.set_grad_input(0, FakeQuantizeGrad(g.grad_output(), g, 0));
  if (g.needs(1)) g.set_grad_input(1, NoGradient(g.input_spec(1)));
}

constexpr GraphTraits kRounds = {.rounded_range = [](AttrsRef attrs) {
  const auto& a = attrs.get<FakeQuantizeAttrs>();
  return RoundedRange{a.qmin, a.qmax};
}};

FIRN_REGISTER_OP(fake_quantize) {
  return {
      .doc = "x quantized and back again; its gradient is straight-through in the range.",
      .inputs = {{.name = "x", .dtypes = kStatistics},
                 {.name = "scale", .same_dtype_as = "x", .max_rank = 1},
                 {.name = "zero_point", .dtypes = SetOf(DType::kI32), .max_rank = 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<FakeQuantizeAttrs>(),
      .infer = InferFakeQuantize,
      .grad = GradFakeQuantize,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2)},
      .kernels = cpu::Portable<FakeQuantizeKernel>(),
      .graph = &kRounds,
  };
}

absl::Status InferFakeQuantizeGrad(InferContext& c) {
  const auto& a = c.attrs<FakeQuantizeAttrs>();
  FIRN_RETURN_IF_ERROR(CheckRange(a));
  FIRN_RETURN_IF(c.shape(0) != c.shape(1),
                 InvalidArgument("dy ", c.shape(0).ToString(), " must have the shape of x ",
                                 c.shape(1).ToString()));
  FIRN_RETURN_IF_ERROR(CheckScale(c, c.shape(1), 2, a.dim));
  return InferLikeInput(c);
}

// Linear in dy, and piecewise constant in the others.
void GradOfGrad(GradContext& g) {
  if (g.needs(0)) g.set_grad_input(0, FakeQuantizeGrad(g.grad_output(), g, 1));
  for (int i : {1, 2}) {
    if (g.needs(i)) g.set_grad_input(i, NoGradient(g.input_spec(i)));
  }
}

FIRN_REGISTER_OP(fake_quantize_grad) {
  return {
      .doc = "dy where x lies in the range of fake_quantize, else 0.",
      .inputs = {{.name = "dy", .dtypes = kStatistics},
                 {.name = "x", .same_dtype_as = "dy"},
                 {.name = "scale", .same_dtype_as = "dy", .max_rank = 1},
                 {.name = "zero_point", .dtypes = SetOf(DType::kI32), .max_rank = 1}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<FakeQuantizeAttrs>(),
      .infer = InferFakeQuantizeGrad,
      .grad = GradOfGrad,
      .saves = {Saved::Input(1), Saved::Input(2), Saved::Input(3)},
      .kernels = cpu::Portable<FakeQuantizeGradKernel>(),
  };
}

// Converts scale and zero point to those that the operations take.
struct Grid {
  Tensor scale, zero;
  int64_t dim = 0;
};

// The range of levels, in which a zero point must lie.
struct Levels {
  int64_t low = std::numeric_limits<int32_t>::min(), high = std::numeric_limits<int32_t>::max();
};
Levels LevelsOf(DType dtype) {
  if (dtype == DType::kI8) return {-128, 127};
  if (dtype == DType::kU8) return {0, 255};
  return {};
}

// Values of tensors are not read here, since they may lie on a device or belong to a captured run.
void CheckNumber(const Tensor& scale, DType dtype, std::string_view op) {
  const double v = NumberValue(scale);
  const double held = dtype == DType::kF64 ? v : static_cast<double>(static_cast<float>(v));
  if (held > 0 && std::isfinite(held)) return;
  RaiseStatus(
      InvalidArgument("scale must be above 0 and finite in ", DTypeName(dtype), ", got ", v), op);
}

// Converts a zero point to that of the operations, i32: a whole number, or a tensor of integers.
Tensor ZeroPoint(const Tensor& zero, const Levels& levels, Device device, std::string_view op) {
  if (!zero.defined()) return AsDType(Tensor(0), DType::kI32, device);
  if (zero.impl()->weak_number) {
    const double v = NumberValue(zero);
    if (std::abs(v) > 0x1p31 - 1 || v != std::floor(v)) {
      RaiseStatus(InvalidArgument("zero_point must be a whole number of i32, got ", v), op);
    }
    if (v < static_cast<double>(levels.low) || v > static_cast<double>(levels.high)) {
      RaiseStatus(InvalidArgument("zero_point must be one of the levels from ", levels.low, " to ",
                                  levels.high, ", got ", v),
                  op);
    }
  } else if (IsFloating(zero.dtype()) || zero.dtype() == DType::kBool) {
    RaiseStatus(InvalidArgument("zero_point must be of integers, got ", zero.spec().ToString()),
                op);
  }
  return AsDType(zero, DType::kI32, device);
}

// With a dim both get a number for each of its indices; without, both must be single.
Grid GridOf(const Tensor& x, const Tensor& scale, const Tensor& zero_point,
            const std::optional<int64_t>& dim, DType dtype, const Levels& levels,
            std::string_view op) {
  CheckDefined(scale, op, "scale");
  if (scale.impl()->weak_number) CheckNumber(scale, dtype, op);
  Grid g{AsDType(scale, dtype, x.device()), ZeroPoint(zero_point, levels, x.device(), op)};
  if (!IsFloating(scale.dtype()) && !scale.impl()->weak_number) {
    RaiseStatus(InvalidArgument("scale must be floating, got ", scale.spec().ToString()), op);
  }
  Shape shape;
  if (dim) {
    const absl::StatusOr<int> at = NormalizeDim(*dim, x.shape());
    if (!at.ok()) RaiseStatus(at.status(), op);
    if (x.rank() == 0) RaiseStatus(InvalidArgument("a number x has no dim ", *dim), op);
    g.dim = *at;
    shape = Shape({x.shape()[*at]});
  }
  for (Tensor* t : {&g.scale, &g.zero}) {
    if (t->rank() == 1 && t->size(0) == 1) *t = Reshape(*t, {});
    if (t->rank() != 0 && t->shape() != shape) {
      RaiseStatus(InvalidArgument(t == &g.scale ? "scale " : "zero_point ", t->shape().ToString(),
                                  dim ? " does not fit the dimension of x " : " needs a dim of x ",
                                  x.shape().ToString()),
                  op);
    }
    if (t->rank() == 0 && dim) *t = Expand(*t, shape);
  }
  return g;
}

DType ComputedIn(const Tensor& x) { return ComputeDType(x.dtype()); }

void CheckFloating(const Tensor& x, std::string_view op) {
  CheckDefined(x, op);
  if (!IsFloating(x.dtype())) {
    RaiseStatus(InvalidArgument("x must be f32, f64, f16 or bf16, got ", x.spec().ToString()), op);
  }
}

}  // namespace

Tensor QuantizeLinear(const Tensor& x, const Tensor& scale, const Tensor& zero_point,
                      const QuantizeOptions& o) {
  const OpDef& op = TheOp<"quantize_linear">();
  CheckFloating(x, op.name);
  const DType dtype = ComputedIn(x);
  const Grid g = GridOf(x, scale, zero_point, o.dim, dtype, LevelsOf(o.dtype), op.name);
  return Apply1(op, {Cast(x, dtype), g.scale, g.zero},
                QuantizeAttrs{g.dim, o.dtype, o.round, o.narrow_range});
}

Tensor DequantizeLinear(const Tensor& x, const Tensor& scale, const Tensor& zero_point,
                        const DequantizeOptions& o) {
  const OpDef& op = TheOp<"dequantize_linear">();
  CheckDefined(x, op.name);
  CheckDefined(scale, op.name, "scale");
  const DType result = IsFloating(scale.dtype()) ? scale.dtype() : kDefaultFloat;
  const Grid g =
      GridOf(x, scale, zero_point, o.dim, ComputeDType(result), LevelsOf(x.dtype()), op.name);
  return Cast(Apply1(op, {x, g.scale, g.zero}, DequantizeAttrs{g.dim}), result);
}

Tensor FakeQuantize(const Tensor& x, const Tensor& scale, const Tensor& zero_point, Integer qmin,
                    Integer qmax, std::optional<int64_t> dim) {
  const OpDef& op = TheOp<"fake_quantize">();
  CheckFloating(x, op.name);
  RaiseIfError(CheckRange({.qmin = qmin, .qmax = qmax}), op.name);
  const DType dtype = ComputedIn(x);
  const Grid g = GridOf(x, scale, zero_point, dim, dtype, {qmin, qmax}, op.name);
  const Tensor y =
      Apply1(op, {Cast(x, dtype), g.scale, g.zero}, FakeQuantizeAttrs{g.dim, qmin, qmax});
  return Cast(y, x.dtype());
}

}  // namespace firn

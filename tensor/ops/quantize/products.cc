// The operations sum products of bytes in i32; scales are factors of the sums, so the functions
// multiply by them afterwards, by dequantize_linear and quantize_linear.

#include "firn/tensor/ops/quantize/products.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/quantize/finished_conv.h"
#include "firn/tensor/ops/quantize/products_body.h"
#include "firn/tensor/ops/quantize/products_cpu_body.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

constexpr DTypeSet kBytes = SetOf(DType::kI8) | SetOf(DType::kU8);

// The inputs of both operations: x, its zero point, weights, and one or several zero points of the
// weights.
std::vector<ArgDecl> InputsOf(const char* x, const char* w, int rank) {
  return {{.name = x, .dtypes = kBytes, .min_rank = rank, .max_rank = rank},
          {.name = "zero_point", .same_dtype_as = x, .max_rank = 0},
          {.name = w, .dtypes = kBytes, .min_rank = rank, .max_rank = rank},
          {.name = "other_zero_point", .same_dtype_as = w, .max_rank = 1}};
}

absl::Status CheckZeros(const InferContext& c, int64_t count) {
  const Shape& zero = c.shape(3);
  FIRN_RETURN_IF(zero.rank() == 1 && zero[0] != count,
                 InvalidArgument("the zero points ", zero.ToString(), " must be one or ", count));
  return absl::OkStatus();
}

absl::Status InferIntMatmul(InferContext& c) {
  const Shape &a = c.shape(0), &b = c.shape(2);
  const bool transposed = c.attrs<IntMatmulAttrs>().transpose_b;
  const int64_t k = b[transposed ? 2 : 1], n = b[transposed ? 1 : 2];
  FIRN_RETURN_IF(a[0] != b[0] || a[2] != k,
                 InvalidArgument("cannot multiply a ", a.ToString(), " by b ", b.ToString(),
                                 transposed ? ", transposed" : ""));
  FIRN_RETURN_IF_ERROR(CheckZeros(c, n));
  FIRN_ASSIGN_OR_RETURN(const Shape y, Shape::Make({a[0], a[1], n}));
  c.set_out(0, DType::kI32, y);
  return absl::OkStatus();
}

FIRN_REGISTER_OP(int_matmul) {
  return {
      .doc = "The product of matrices of bytes less their zero points, in i32. Not differentiable.",
      .inputs = InputsOf("a", "b", 3),
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<IntMatmulAttrs>(),
      .infer = InferIntMatmul,
      .kernels = cpu::Portable<IntMatmulKernel>(
          {.name = "loop"},
          {{.name = "bytes", .supports = cpu::ByteMatmul::Supports, .run = cpu::ByteMatmul::Run}}),
  };
}

absl::Status InferIntConv(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p,
                        ConvForward(c.shape(0), c.shape(2), c.attrs<ConvAttrs>()));
  FIRN_RETURN_IF_ERROR(CheckZeros(c, p.out));
  FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(p.batch, p.out, p.out_size));
  c.set_out(0, DType::kI32, y);
  return absl::OkStatus();
}

absl::Status RunByteConv(KernelContext& k) {
  const ConvProblem p = ConvProblemOf(k.in_spec(0).shape, k.in_spec(2).shape, k.out_spec().shape,
                                      k.attrs<ConvAttrs>());
  return VisitBytes(k.in_spec(0).dtype, k.in_spec(2).dtype,
                    [&]<class X, class W>(TypeTag<X>, TypeTag<W>) {
                      cpu::ByteConv::Multiply<X, W>(k, p);
                      return absl::OkStatus();
                    });
}

constexpr GraphTraits kIntConvTraits = {.finish = FinishIntConv2d};

FIRN_REGISTER_OP(int_conv2d) {
  return {
      .doc = "The convolution of bytes less their zero points, in i32. Not differentiable.",
      .inputs = InputsOf("x", "w", 4),
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ConvAttrs>(),
      .infer = InferIntConv,
      .kernels =
          cpu::Portable<IntConvKernel>({.name = "loop"}, {{.name = "bytes",
                                                           .supports = cpu::CheckByteProducts,
                                                           .workspace = cpu::ByteConv::Workspace,
                                                           .run = RunByteConv}}),
      .graph = &kIntConvTraits,
  };
}

// Converts sums to the result's quantization. `dim` is the dimension of the weights' scales.
Tensor Requantized(const Tensor& sums, const Tensor& x_scale, const Tensor& w_scale,
                   const Tensor& y_scale, const Tensor& y_zero, int64_t dim, DType dtype,
                   std::string_view op) {
  const Tensor zero = ZeroPointAs(y_zero, dtype, sums.device(), op);
  const Tensor scale = Mul(Cast(Reshape(x_scale, {}), DType::kF32), Cast(w_scale, DType::kF32));
  const bool several = scale.num_elements() != 1;
  const Tensor real = several ? DequantizeLinear(sums, scale, {}, {.dim = dim})
                              : DequantizeLinear(sums, Reshape(scale, {}));
  return QuantizeLinear(real, y_scale, zero, {.dtype = dtype});
}

void CheckBytes(const Tensor& t, const char* name, std::string_view op) {
  CheckDefined(t, op, name);
  if (!Contains(kBytes, t.dtype())) {
    RaiseStatus(InvalidArgument(name, " must be i8 or u8, got ", t.spec().ToString()), op);
  }
}

// Scales are needed only where the result is quantized.
void CheckScales(const Tensor& x_scale, const Tensor& w_scale, const Tensor& y_scale,
                 std::string_view op) {
  if (!y_scale.defined()) return;
  for (const Tensor* t : {&x_scale, &w_scale}) CheckDefined(*t, op, "the scale of an input");
  if (x_scale.num_elements() != 1 || w_scale.rank() > 1) {
    RaiseStatus(
        InvalidArgument("the first scale must be one element and the second one or 1-d, got ",
                        x_scale.spec().ToString(), " and ", w_scale.spec().ToString()),
        op);
  }
}

ConvAttrs AttrsOfOptions(const Conv2dOptions& o, const Shape& w) {
  ConvAttrs a{o.stride, o.padding.size, o.dilation, o.groups};
  if (!o.padding.same) return a;
  a.padding = Sizes(0, 0);
  for (int i = 0; i < 2; ++i) {
    const int64_t total = (o.dilation.Fits(2) ? o.dilation[i] : 1) * (w[i + 2] - 1);
    if (total % 2 != 0 || !o.stride.Are(1)) {
      RaiseStatus(InvalidArgument("padding same takes kernels of odd extent and stride 1, got ",
                                  w.ToString(), " and ", o.stride.ToString()),
                  "quantized_conv2d");
    }
    a.padding.set(i, total / 2);
  }
  return a;
}

}  // namespace

Tensor inner::IntMatmul(const Tensor& a, const Tensor& a_zero, const Tensor& b,
                        const Tensor& b_zero, const IntMatmulAttrs& attrs) {
  return Apply1(TheOp<"int_matmul">(), {a, a_zero, b, b_zero}, attrs);
}

Tensor inner::IntLinear(const Tensor& x, const Tensor& x_zero, const Tensor& weight) {
  const int64_t in = x.size(-1), out = weight.size(0);
  int64_t rows = 1;
  for (const int64_t size : x.shape().span().first(static_cast<size_t>(x.rank()) - 1)) rows *= size;
  const Tensor sums = IntMatmul(Reshape(x, {1, rows, in}), x_zero, Reshape(weight, {1, out, -1}),
                                Zeros({}, DType::kI8, x.device()), {.transpose_b = true});
  Dims sizes = x.shape().dims();
  sizes[x.rank() - 1] = out;
  return Reshape(sums, sizes.span());
}

Tensor inner::IntConv2d(const Tensor& x, const Tensor& x_zero, const Tensor& w,
                        const Tensor& w_zero, const ConvAttrs& attrs) {
  return Apply1(TheOp<"int_conv2d">(), {x, x_zero, w, w_zero}, attrs);
}

Tensor inner::ZeroPointAs(const Tensor& zero, DType dtype, Device device, std::string_view op) {
  if (!zero.defined()) return AsDType(Tensor(0), dtype, device);
  if (zero.impl()->weak_number) {
    const double v = NumberValue(zero), low = dtype == DType::kU8 ? 0 : -128;
    if (v < low || v > low + 255 || v != std::floor(v)) {
      RaiseStatus(InvalidArgument("zero point ", v, " is no number of ", DTypeName(dtype)), op);
    }
    return AsDType(zero, dtype, device);
  }
  if (zero.dtype() != dtype || zero.rank() > 1) {
    RaiseStatus(InvalidArgument("the zero point of ", DTypeName(dtype), " must be ",
                                DTypeName(dtype), ", 0-d or 1-d, got ", zero.spec().ToString()),
                op);
  }
  return zero.num_elements() == 1 ? Reshape(zero, {}) : zero;
}

Tensor QuantizedMatmul(const Tensor& a, const Tensor& a_scale, const Tensor& a_zero,
                       const Tensor& b, const Tensor& b_scale, const Tensor& b_zero,
                       const Tensor& y_scale, const Tensor& y_zero) {
  constexpr char kName[] = "quantized_matmul";
  CheckBytes(a, "a", kName);
  CheckBytes(b, "b", kName);
  CheckScales(a_scale, b_scale, y_scale, kName);
  const Shape &as = a.shape(), &bs = b.shape();
  const int ra = as.rank(), rb = bs.rank();
  bool fits = ra >= 2 && rb >= 2 && as[ra - 1] == bs[rb - 2] && (rb == 2 || ra == rb);
  for (int i = 0; fits && rb > 2 && i < ra - 2; ++i) fits = as[i] == bs[i];
  if (!fits) {
    RaiseStatus(InvalidArgument("cannot multiply a ", as.ToString(), " by b ", bs.ToString()),
                kName);
  }
  // With a single b, the rows of all of a's matrices form one matrix.
  const int64_t m = as[ra - 2], k = as[ra - 1], n = bs[rb - 1];
  int64_t batch = 1;
  for (int i = 0; i < ra - 2; ++i) batch *= as[i];
  const bool one = rb == 2;
  const Tensor sums = IntMatmul(Reshape(a, {one ? 1 : batch, one ? batch * m : m, k}),
                                ZeroPointAs(a_zero, a.dtype(), a.device(), kName),
                                Reshape(b, {one ? 1 : batch, k, n}),
                                ZeroPointAs(b_zero, b.dtype(), b.device(), kName));
  Dims sizes = as.dims();
  sizes[ra - 1] = n;
  const Tensor y = Reshape(sums, sizes.span());
  if (!y_scale.defined()) return y;
  return Requantized(y, a_scale, b_scale, y_scale, y_zero, -1, a.dtype(), kName);
}

Tensor QuantizedConv2d(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero,
                       const Tensor& w, const Tensor& w_scale, const Tensor& w_zero,
                       const Tensor& bias, const Tensor& y_scale, const Tensor& y_zero,
                       const Conv2dOptions& options) {
  constexpr char kName[] = "quantized_conv2d";
  CheckBytes(x, "x", kName);
  CheckBytes(w, "w", kName);
  CheckScales(x_scale, w_scale, y_scale, kName);
  if (w.rank() != 4) {
    RaiseStatus(InvalidArgument("w must be [out, in / groups, kh, kw], got ", w.spec().ToString()),
                kName);
  }
  if (bias.defined() && (bias.dtype() != DType::kI32 || bias.shape() != Shape({w.size(0)}))) {
    RaiseStatus(InvalidArgument("bias must be i32 [", w.size(0), "], got ", bias.spec().ToString()),
                kName);
  }
  Tensor y = IntConv2d(x, ZeroPointAs(x_zero, x.dtype(), x.device(), kName), w,
                       ZeroPointAs(w_zero, w.dtype(), w.device(), kName),
                       AttrsOfOptions(options, w.shape()));
  if (bias.defined()) y = Add(y, Reshape(bias, {-1, 1, 1}));
  if (!y_scale.defined()) return y;
  return Requantized(y, x_scale, w_scale, y_scale, y_zero, 1, x.dtype(), kName);
}

}  // namespace firn

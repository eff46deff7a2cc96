// As quantized::Linear, with channels instead of columns.

#include "firn/nn/quantized/conv.h"

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/nn/quantized/weights.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/quantize/products.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::nn::quantized {
namespace {

constexpr char kLayer[] = "nn::quantized::Conv2d";

Conv2dOptions Checked(const Conv2dOptions& o) {
  CheckSizes(kLayer, {{"in", o.in}, {"out", o.out}, {"groups", o.groups}});
  internal::CheckInputDType(o.dtype, kLayer);
  if (o.in % o.groups != 0 || o.out % o.groups != 0 || !o.kernel.Fits(2)) {
    RaiseStatus(
        InvalidArgument("groups ", o.groups, " must divide ", o.in, " and ", o.out,
                        " channels, and kernel have one size or two, got ", o.kernel.ToString()),
        kLayer);
  }
  for (const int64_t size : o.kernel.span()) CheckSizes(kLayer, {{"kernel", size}});
  return o;
}

Shape WeightShape(const Conv2dOptions& given) {
  const Conv2dOptions o = Checked(given);
  return Shape({o.out, o.in / o.groups, o.kernel[0], o.kernel[1]});
}

}  // namespace

Conv2d::Conv2d(const Options& options)
    : options_(options),
      weight_(AddBuffer("weight", Zeros(WeightShape(options), DType::kI8))),
      weight_scale_(AddBuffer("weight_scale", Ones({options.out}))),
      input_scale_(AddBuffer("input_scale", Ones({}))),
      input_zero_point_(AddBuffer("input_zero_point", Zeros({}, DType::kI32))),
      bias_(AddBuffer("bias", options.bias ? Zeros({options.out}) : Tensor())) {}

void Conv2d::Take(const nn::Conv2d& from, const Quantization& input) {
  internal::CheckTaken(from.weight(), weight_, "a weight", kLayer);
  internal::CheckTaken(from.bias(), bias_, "a bias", kLayer);
  internal::CheckTaken(input, options_.dtype, kLayer);
  if (from.options().padding_mode != PadMode::kConstant) {
    RaiseStatus(InvalidArgument("takes layers that pad with zeros"), kLayer);
  }
  const internal::Weights w = internal::WeightsOf(from.weight());
  internal::Write(weight_, w.values);
  internal::Write(weight_scale_, w.scale);
  internal::Write(input_scale_, input.scale);
  internal::Write(input_zero_point_, input.zero_point);
  internal::Write(bias_, from.bias());
}

Tensor Conv2d::Forward(const Tensor& x) {
  SizeOfInput(kLayer, x, 1);
  const Options& o = options_;
  const Tensor q = QuantizeLinear(x.Detach(), input_scale_, input_zero_point_, {.dtype = o.dtype});
  const Tensor sums = QuantizedConv2d(
      q, {}, Cast(input_zero_point_, o.dtype), weight_, {}, {}, {}, {}, {},
      {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups});
  Tensor y = DequantizeLinear(sums, Mul(weight_scale_, input_scale_), {}, {.dim = 1});
  if (bias_.defined()) y = Add(y, Reshape(bias_, {-1, 1, 1}));
  return Cast(y, x.dtype());
}

}  // namespace firn::nn::quantized

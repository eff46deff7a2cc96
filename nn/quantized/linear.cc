// Rows of the weight are the columns of the product, which takes them transposed. The bias is added
// to the floating result: so scales of inputs may be changed without changing the bias.

#include "firn/nn/quantized/linear.h"

#include "firn/device/inner.h"
#include "firn/nn/quantized/qat.h"
#include "firn/nn/quantized/weights.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/quantize/products.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::nn::quantized {
namespace {

constexpr char kLayer[] = "nn::quantized::Linear";

LinearOptions Checked(const LinearOptions& o) {
  CheckSizes(kLayer, {{"in", o.in}, {"out", o.out}});
  internal::CheckInputDType(o.dtype, kLayer);
  return o;
}

}  // namespace

Linear::Linear(const Options& options)
    : LayerWithOptions(Checked(options)),
      weight_(AddBuffer("weight", Zeros({options.out, options.in}, DType::kI8))),
      weight_scale_(AddBuffer("weight_scale", Ones({options.out}))),
      input_scale_(AddBuffer("input_scale", Ones({}))),
      input_zero_point_(AddBuffer("input_zero_point", Zeros({}, options.dtype))),
      bias_(AddBuffer("bias", options.bias ? Zeros({options.out}) : Tensor())) {}

void Linear::TakeNumbers(const Tensor& weight, const Tensor& bias, const Quantization& input) {
  internal::CheckTaken(weight, weight_, "a weight", kLayer);
  internal::CheckTaken(bias, bias_, "a bias", kLayer);
  internal::CheckTaken(input, options().dtype, kLayer);
  const internal::Weights w = internal::WeightsOf(weight, kLayer);
  internal::Write(weight_, w.values);
  internal::Write(weight_scale_, w.scale);
  internal::Write(input_scale_, input.scale);
  internal::Write(input_zero_point_, input.zero_point);
  internal::Write(bias_, bias);
}

void Linear::Take(const nn::Linear& from, const Quantization& input) {
  TakeNumbers(from.weight(), from.bias(), input);
}

void Linear::Take(const QatLinear& from) {
  TakeNumbers(from.weight(), from.bias(), from.input().quantization());
}

Tensor Linear::Forward(const Tensor& x) {
  SizeOfInput(kLayer, x, -1);
  const Tensor q =
      QuantizeLinear(x.Detach(), input_scale_, input_zero_point_, {.dtype = options().dtype});
  const Tensor sums = IntLinear(q, input_zero_point_, weight_);
  Tensor y =
      DequantizeLinear(sums, internal::ScaleOf(weight_scale_, input_scale_), {}, {.dim = -1});
  if (bias_.defined()) y = Add(y, Cast(bias_, y.dtype()));
  return Cast(y, x.dtype());
}

}  // namespace firn::nn::quantized

// Like quantized::Linear, with channels instead of columns.

#include "firn/nn/quantized/conv.h"

#include <string>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/nn/quantized/qat.h"
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
  CheckSizes(kLayer, {{"in", o.in},
                      {"out", o.out},
                      {"kernel", Smallest(SpatialSizes(kLayer, "kernel", o.kernel, 2))},
                      {"stride", Smallest(SpatialSizes(kLayer, "stride", o.stride, 2))},
                      {"dilation", Smallest(SpatialSizes(kLayer, "dilation", o.dilation, 2))},
                      {"groups", o.groups}});
  SpatialSizes(kLayer, "padding", o.padding.size, 2);
  for (int i = 0; o.padding.same && i < 2; ++i) {  // the product would refuse them only in Forward
    if (o.stride.Are(1) && (o.dilation[i] % 2 == 0 || o.kernel[i] % 2 == 1)) continue;
    RaiseStatus(InvalidArgument("padding same takes kernels of odd extent and stride 1, got ",
                                o.kernel.ToString(), " and ", o.stride.ToString()),
                kLayer);
  }
  CheckGroups(kLayer, o.in, o.out, o.groups);
  internal::CheckInputDType(o.dtype, kLayer);
  return o;
}

// Refuses a layer whose windows cover other places of images.
template <class Options>
void CheckPlaces(const Options& from, const std::string& described, const Conv2d& to) {
  const Conv2dOptions& o = to.options();
  const bool same = from.stride.Over(2) == o.stride.Over(2) &&
                    from.dilation.Over(2) == o.dilation.Over(2) && from.groups == o.groups &&
                    from.padding.same == o.padding.same &&
                    (o.padding.same || from.padding.size.Over(2) == o.padding.size.Over(2));
  if (same) return;
  RaiseStatus(InvalidArgument("takes a layer of its own stride, dilation, groups and padding, ",
                              to.Describe(), ", got ", described),
              kLayer);
}

}  // namespace

Conv2d::Conv2d(const Options& options)
    : LayerWithOptions(Checked(options)),
      weight_(AddBuffer("weight", Zeros({options.out, options.in / options.groups,
                                         options.kernel[0], options.kernel[1]},
                                        DType::kI8))),
      weight_scale_(AddBuffer("weight_scale", Ones({options.out}))),
      input_scale_(AddBuffer("input_scale", Ones({}))),
      input_zero_point_(AddBuffer("input_zero_point", Zeros({}, options.dtype))),
      bias_(AddBuffer("bias", options.bias ? Zeros({options.out}) : Tensor())) {}

void Conv2d::Take(const nn::Conv2d& from, const Quantization& input) {
  internal::CheckTaken(from.weight(), weight_, "a weight", kLayer);
  CheckPlaces(from.options(), from.Describe(), *this);
  if (from.options().padding_mode != PadMode::kConstant) {
    RaiseStatus(InvalidArgument("takes a layer that pads with zeros, got ", from.Describe()),
                kLayer);
  }
  TakeNumbers(from.weight(), from.bias(), input);
}

void Conv2d::Take(const QatConv2d& from) {
  internal::CheckTaken(from.weight(), weight_, "a weight", kLayer);
  CheckPlaces(from.options(), from.Describe(), *this);
  TakeNumbers(from.weight(), from.bias(), from.input().quantization());
}

void Conv2d::TakeNumbers(const Tensor& weight, const Tensor& bias, const Quantization& input) {
  internal::CheckTaken(bias, bias_, "a bias", kLayer);
  internal::CheckTaken(input, options().dtype, kLayer);
  const internal::Weights w = internal::WeightsOf(weight, kLayer);
  internal::Write(weight_, w.values);
  internal::Write(weight_scale_, w.scale);
  internal::Write(input_scale_, input.scale);
  internal::Write(input_zero_point_, input.zero_point);
  internal::Write(bias_, bias);
}

Tensor Conv2d::Forward(const Tensor& x) {
  SizeOfInput(kLayer, x, 1);
  const Options& o = options();
  const Tensor q = QuantizeLinear(x.Detach(), input_scale_, input_zero_point_, {.dtype = o.dtype});
  const Tensor sums = QuantizedConv2d(
      q, {}, input_zero_point_, weight_, {}, {}, {}, {}, {},
      {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups});
  Tensor y = DequantizeLinear(sums, internal::ScaleOf(weight_scale_, input_scale_), {}, {.dim = 1});
  if (bias_.defined()) y = Add(y, Reshape(Cast(bias_, y.dtype()), {-1, 1, 1}));
  return Cast(y, x.dtype());
}

}  // namespace firn::nn::quantized

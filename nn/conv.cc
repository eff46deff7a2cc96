// Convolution layers: options for the operations, whose parameters ConvBase holds. Padding other
// than zeros is an operation of its own before the convolution.

#include "firn/nn/conv.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/conv/conv.h"
#include "firn/tensor/ops/conv/conv_transpose.h"

namespace firn::nn {
namespace {

constexpr const char* kConvNames[] = {"nn::Conv1d", "nn::Conv2d", "nn::Conv3d"};
constexpr const char* kTransposeNames[] = {"nn::ConvTranspose1d", "nn::ConvTranspose2d",
                                           "nn::ConvTranspose3d"};

// The options of either kind in the form for ConvBase.
template <class Options>
ConvBase::Plan PlanOf(const char* layer, int dims, const Options& o, bool transposed) {
  return {.layer = layer,
          .in = o.in,
          .out = o.out,
          .kernel = SpatialSizes(layer, "kernel", o.kernel, dims),
          .groups = o.groups,
          .bias = o.bias,
          .transposed = transposed,
          .weight_init = o.weight_init,
          .bias_init = o.bias_init};
}

template <class Options>
void CheckOptions(const char* layer, int dims, const Options& o) {
  CheckSizes(layer, {{"stride", Smallest(SpatialSizes(layer, "stride", o.stride, dims))},
                     {"dilation", Smallest(SpatialSizes(layer, "dilation", o.dilation, dims))}});
}

// Paddings in the order of Pad: before and after, the last dimension first.
std::vector<int64_t> PaddedSides(const ConvOptions& o, int dims) {
  std::vector<int64_t> sides;
  for (int i = dims - 1; i >= 0; --i) {
    const int64_t reach = o.dilation[i] * (o.kernel[i] - 1);
    const int64_t before = o.padding.same ? reach / 2 : o.padding.size[i];
    sides.insert(sides.end(), {before, o.padding.same ? reach - before : before});
  }
  return sides;
}

Tensor Call(int dims, const Tensor& x, const Tensor& weight, const Tensor& bias,
            const firn::ConvOptions& o) {
  if (dims == 1) return firn::Conv1d(x, weight, bias, o);
  return dims == 2 ? firn::Conv2d(x, weight, bias, o) : firn::Conv3d(x, weight, bias, o);
}

Tensor CallTransposed(int dims, const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const firn::ConvTransposeOptions& o) {
  if (dims == 1) return firn::ConvTranspose1d(x, weight, bias, o);
  return dims == 2 ? firn::ConvTranspose2d(x, weight, bias, o)
                   : firn::ConvTranspose3d(x, weight, bias, o);
}

}  // namespace

// --- Convolutions -------------------------------------------------------------------------------

template <int kDims>
Conv<kDims>::Conv(const Options& o) : Base(o, PlanOf(kConvNames[kDims - 1], kDims, o, false)) {
  const char* const layer = kConvNames[kDims - 1];
  CheckOptions(layer, kDims, o);
  SpatialSizes(layer, "padding", o.padding.size, kDims);
}

template <int kDims>
Tensor Conv<kDims>::Forward(const Tensor& x) {
  this->BuildFor(x);
  const Options& o = this->options();
  firn::ConvOptions call = {
      .stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
  if (o.padding_mode == PadMode::kConstant)
    return Call(kDims, x, this->weight(), this->bias(), call);
  call.padding = 0;
  const Tensor padded = firn::Pad(x, PaddedSides(o, kDims), {.mode = o.padding_mode});
  return Call(kDims, padded, this->weight(), this->bias(), call);
}

template <int kDims>
std::string Conv<kDims>::type_name() const {
  return absl::StrCat("Conv", kDims, "d");
}

// --- Transposed convolutions --------------------------------------------------------------------

template <int kDims>
ConvTranspose<kDims>::ConvTranspose(const Options& o)
    : Base(o, PlanOf(kTransposeNames[kDims - 1], kDims, o, true)) {
  const char* const layer = kTransposeNames[kDims - 1];
  CheckOptions(layer, kDims, o);
  SpatialSizes(layer, "padding", o.padding, kDims);
  SpatialSizes(layer, "output_padding", o.output_padding, kDims);
}

template <int kDims>
Tensor ConvTranspose<kDims>::Forward(const Tensor& x) {
  this->BuildFor(x);
  const Options& o = this->options();
  return CallTransposed(kDims, x, this->weight(), this->bias(),
                        {.stride = o.stride,
                         .padding = o.padding,
                         .output_padding = o.output_padding,
                         .groups = o.groups,
                         .dilation = o.dilation});
}

template <int kDims>
std::string ConvTranspose<kDims>::type_name() const {
  return absl::StrCat("ConvTranspose", kDims, "d");
}

template class Conv<1>;
template class Conv<2>;
template class Conv<3>;
template class ConvTranspose<1>;
template class ConvTranspose<2>;
template class ConvTranspose<3>;

}  // namespace firn::nn

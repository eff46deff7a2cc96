#ifndef FIRN_NN_QUANTIZED_CONV_H_
#define FIRN_NN_QUANTIZED_CONV_H_

#include <cstdint>

#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/tensor/observers.h"

namespace firn::nn::quantized {

class QatConv2d;  // nn/quantized/qat.h

struct Conv2dOptions {
  int64_t in = 0;  // channels
  int64_t out = 0;
  Sizes kernel = 1;
  Sizes stride = 1;
  ConvPadding padding = 0;
  Sizes dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  DType dtype = DType::kU8;  // the dtype that inputs are quantized to, i8 or u8
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "out", out);
    v.Always("kernel", kernel);
    v.Field("stride", stride);
    v.SizesOr("padding", padding.size, "same", padding.same);
    v.Field("dilation", dilation);
    v.Field("groups", groups);
    v.Field("bias", bias);
    v.Field("dtype", dtype);
  }
};

// nn::Conv2d of integers, for inference; see quantized::Linear.
// x: floating [n, in, h, w]      y: of x's dtype, [n, out, ...]
// Buffers: weight i8 [out, in / groups, kh, kw], the others as quantized::Linear's.
class Conv2d final : public LayerWithOptions<Conv2dOptions> {
 public:
  // Throws when a size is not positive or not one for each dimension, groups does not divide the
  // channels, the dtype is neither i8 nor u8, or padding kSame has a stride or a kernel that does
  // not reach equally far to both sides.
  explicit Conv2d(const Options& options);

  // Like quantized::Linear::Take, for a layer of the same stride, dilation, groups and padding,
  // which is by zeros.
  void Take(const nn::Conv2d& from, const Quantization& input);
  // The same for a layer that was trained for it; inputs are rounded as in training.
  void Take(const QatConv2d& from);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  void TakeNumbers(const Tensor& weight, const Tensor& bias, const Quantization& input);

  Tensor &weight_, &weight_scale_, &input_scale_, &input_zero_point_, &bias_;
};

}  // namespace firn::nn::quantized

#endif  // FIRN_NN_QUANTIZED_CONV_H_

#ifndef FIRN_NN_QUANTIZED_LINEAR_H_
#define FIRN_NN_QUANTIZED_LINEAR_H_

#include <cstdint>

#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/tensor/observers.h"

namespace firn::nn::quantized {

class QatLinear;  // nn/quantized/qat.h

struct LinearOptions {
  int64_t in = 0;
  int64_t out = 0;
  bool bias = true;
  DType dtype = DType::kU8;  // the dtype that inputs are quantized to, i8 or u8
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "out", out);
    v.Field("bias", bias);
    v.Field("dtype", dtype);
  }
};

// nn::Linear of integers, for inference: x is quantized by the scale and zero point kept here,
// products are summed in i32 (tensor/ops/quantize/products.h), and the result is floating again.
// x: floating [..., in]      y: of x's dtype, [..., out]; half types compute in f32
// Buffers: weight i8 [out, in], weight_scale f32 [out], input_scale f32 [], input_zero_point [] of
// options.dtype, bias f32 [out]. No parameters and no gradient. Begins with weights of 0 and scales
// of 1.
class Linear final : public LayerWithOptions<LinearOptions> {
 public:
  // Throws when a size is not positive or the dtype is neither i8 nor u8.
  explicit Linear(const Options& options);

  // Takes the numbers of a layer of the same sizes: weights by the largest of each row, symmetric,
  // from -127 to 127, and inputs as `input` says. Throws if sizes, bias or dtype differ, a weight
  // is not finite, or `input` has a scale that is not above 0 or a zero point that its dtype cannot
  // hold.
  void Take(const nn::Linear& from, const Quantization& input);
  // The same for a layer that was trained for it; inputs are rounded as in training.
  void Take(const QatLinear& from);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  void TakeNumbers(const Tensor& weight, const Tensor& bias, const Quantization& input);

  Tensor &weight_, &weight_scale_, &input_scale_, &input_zero_point_, &bias_;
};

}  // namespace firn::nn::quantized

#endif  // FIRN_NN_QUANTIZED_LINEAR_H_

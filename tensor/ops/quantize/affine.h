#ifndef FIRN_TENSOR_OPS_QUANTIZE_AFFINE_H_
#define FIRN_TENSOR_OPS_QUANTIZE_AFFINE_H_

// Numbers as integers on a grid: x = (q - zero_point) * scale. There is no quantized dtype; the
// integers are tensors of i8, u8 or i32, and scale and zero point tensors beside them.

#include <cstdint>
#include <optional>

#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct QuantizeOptions {
  // The dimension whose indices have a scale and a zero point each; without it all elements share
  // one.
  std::optional<int64_t> dim = {};
  DType dtype = DType::kI8;            // i8, u8 or i32
  RoundTies round = RoundTies::kEven;  // NNabla's default is kAway
  bool narrow_range = false;           // without the lowest number of dtype: -127 to 127 of i8
};

// round(x / scale) + zero_point, cut off at the ends of options.dtype (ONNX's QuantizeLinear;
// Jacob et al., 2018).
// x: floating; half types compute in f32      scale: floating, one element, or [x.size(dim)]
// zero_point: of integers, of scale's shape; absent: 0
// NaN becomes the zero point, infinities the ends. Integers pass no gradient: FakeQuantize does.
// Throws on shapes that do not fit, on a scale that is given as a number and is not above 0 and
// finite, and on a zero point that is given as a number and not held by dtype. Values of tensors
// are not checked, because that would wait for a device: where the scale is 0, non-zero x become
// the ends, and 0 the zero point; where it is below 0, results are mirrored; where it is NaN or
// infinite they are the zero point. A zero point that dtype does not hold is added before results
// are cut off.
Tensor QuantizeLinear(const Tensor& x, const Tensor& scale, const Tensor& zero_point = {},
                      const QuantizeOptions& options = {});

struct DequantizeOptions {
  std::optional<int64_t> dim = {};  // as in QuantizeOptions
};

// (x - zero_point) * scale (ONNX's DequantizeLinear).
// x: i8, u8 or i32      scale, zero_point: as for QuantizeLinear, with x's dtype for dtype
// The result has scale's dtype; half types compute in f32. The gradient goes to scale. A tensor's
// scale may have any value, also 0, negative ones, NaN and infinities, and is multiplied like any
// number.
Tensor DequantizeLinear(const Tensor& x, const Tensor& scale, const Tensor& zero_point = {},
                        const DequantizeOptions& options = {});

// x quantized to the whole numbers from qmin to qmax and back again, for quantization-aware
// training (PyTorch's fake_quantize_per_tensor_affine and, with a dim, ..._per_channel_affine; here
// x / scale is rounded and not x times 1 / scale, halves to even).
// x, scale, zero_point: as for QuantizeLinear, with qmin to qmax as the range of dtype. NaN stays,
// also that of 0 / 0; infinities become the ends. A scale of NaN gives NaN, an infinite one NaN
// where the level is the zero point. The gradient is dy where the rounded number lies from qmin to
// qmax, else 0, and none goes to scale. Throws unless qmin <= qmax within 24 bits and their sign,
// which f32 counts exactly.
Tensor FakeQuantize(const Tensor& x, const Tensor& scale, const Tensor& zero_point,
                    inner::Integer qmin, inner::Integer qmax, std::optional<int64_t> dim = {});

namespace inner {
// `dim` counts where scale is 1-d.
struct QuantizeAttrs {
  int64_t dim = 0;
  DType dtype = DType::kI8;
  RoundTies round = RoundTies::kEven;
  bool narrow_range = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("dtype", dtype);
    v.Field("round", round);
    v.Field("narrow_range", narrow_range);
  }
};
struct DequantizeAttrs {
  int64_t dim = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
  }
};
struct FakeQuantizeAttrs {
  int64_t dim = 0;
  int64_t qmin = -128;
  int64_t qmax = 127;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("qmin", qmin);
    v.Field("qmax", qmax);
  }
};
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_AFFINE_H_

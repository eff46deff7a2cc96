#ifndef FIRN_TENSOR_OPS_QUANTIZE_PRODUCTS_H_
#define FIRN_TENSOR_OPS_QUANTIZE_PRODUCTS_H_

// Products of quantized tensors (ops/quantize/affine.h), summed in i32. Not differentiable.

#include "firn/tensor/ops/conv/conv.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The product of two matrices of quantized numbers (ONNX's QLinearMatMul and, without a y_scale,
// MatMulInteger).
// a: [..., m, k]      b: [k, n], or [..., k, n] with the same leading sizes; each i8 or u8
// a_zero: one element      b_zero: one, or [n]; whole numbers, or tensors of their
// matrix's dtype
// a_scale: floating, one element      b_scale: one, or [n]      y_scale, y_zero: one element
// The result is sum (a - a_zero)(b - b_zero), i32 [..., m, n], which wraps around; the scales are
// ignored. With y_scale it is QuantizeLinear(that * a_scale * b_scale, y_scale, y_zero), in a's
// dtype. Throws on shapes and dtypes that do not fit, and on a zero point that the dtype cannot
// hold.
Tensor QuantizedMatmul(const Tensor& a, const Tensor& a_scale, const Tensor& a_zero,
                       const Tensor& b, const Tensor& b_scale, const Tensor& b_zero,
                       const Tensor& y_scale = {}, const Tensor& y_zero = {});

// The convolution of quantized images (ONNX's QLinearConv and, without a y_scale, ConvInteger).
// x: [n, in, h, w]      w: [out, in / groups, kh, kw]; each i8 or u8
// x_zero: one element      w_zero: one, or [out]      x_scale: one      w_scale: one, or [out]
// bias: i32 [out], quantized by x_scale * w_scale without a zero point; or undefined
// The result is i32 or, with y_scale, of x's dtype, as for QuantizedMatmul. Elements beyond the
// edges of x count as its zero point. Padding kSame takes kernels of odd extent and stride 1.
Tensor QuantizedConv2d(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero,
                       const Tensor& w, const Tensor& w_scale, const Tensor& w_zero,
                       const Tensor& bias = {}, const Tensor& y_scale = {},
                       const Tensor& y_zero = {}, const Conv2dOptions& options = {});

namespace inner {
struct IntMatmulAttrs {
  bool transpose_b = false;
  template <class V>
  void Visit(V& v) {
    v.Field("transpose_b", transpose_b);
  }
};
// sum (a - a_zero)(b - b_zero) in i32, which wraps around.
// a: [batch, m, k]      b: [batch, k, n], or [batch, n, k] with transpose_b; each i8 or u8
// a_zero: of a's dtype, 0-d      b_zero: of b's dtype, 0-d or [n]      result: i32 [batch, m, n]
Tensor IntMatmul(const Tensor& a, const Tensor& a_zero, const Tensor& b, const Tensor& b_zero,
                 const IntMatmulAttrs& attrs = {});
// The same for x [..., in] and the rows of weight [out, in], i8 without a zero point, like
// Linear's: i32 [..., out].
Tensor IntLinear(const Tensor& x, const Tensor& x_zero, const Tensor& weight);
// The same for a convolution. x: [n, in, h, w], u8 or i8      w: [out, in / groups, kh, kw]
// x_zero: of x's dtype, 0-d      w_zero: of w's dtype, 0-d or [out]      result: i32
Tensor IntConv2d(const Tensor& x, const Tensor& x_zero, const Tensor& w, const Tensor& w_zero,
                 const ConvAttrs& attrs);
// Converts a zero point for these operations: a number that `dtype` holds, or a tensor of that
// dtype; absent is
// 0. Throws for others.
Tensor ZeroPointAs(const Tensor& zero, DType dtype, Device device, std::string_view op);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_PRODUCTS_H_

#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_QDQ_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_QDQ_H_

// Networks of bytes in the form that runtimes look for, quantize and dequantize ("QDQ"): ordinary
// products, Conv, Gemm and MatMul, of what DequantizeLinear makes of bytes. A runtime that knows
// the form sums the bytes themselves; one that does not computes nearly the same in f32.

#include "absl/status/status.h"
#include "firn/io/load_limits.h"
#include "firn/io/onnx/internal/onnx_export_call.h"
#include "firn/io/onnx/internal/onnx_model.h"

namespace firn::io::internal {

// Writes a call of dequantize_linear that reads the sums of int_matmul or int_conv2d. False,
// having written nothing: it reads something else, or the form has no place for what it reads.
bool WriteQdq(OnnxExportCall& n);

// Input i, zero points that calls have as i32, as bytes of this type.
OnnxValue ZeroPointOf(OnnxExportCall& n, size_t i, DType dtype);

// Biases that are added to products of this form become inputs of them.
void MergeQdqBiases(OnnxNodes* nodes);

// The way back, for files that are read: where a product is of bytes by bytes that stand in the
// file, the bytes are summed in i32 (ConvInteger, MatMulInteger) and the sums dequantized. All
// other nodes stay as they are, also where a scale is not above 0 or not finite, a zero point of
// another type, or sums may not fit in i32. Where the first factor was quantized in the graph and
// the second stands in the file, a file that WriteQdq wrote then has the bits of the graph that was
// exported; products of other bytes are those of numbers, with sums in f32. Errors are those of
// reading scales, zero points and biases.
absl::Status FoldQdq(OnnxModel* model, const LoadLimits& limits);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_QDQ_H_

#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_QDQ_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_QDQ_H_

// Networks of bytes in the form that runtimes expect, quantize and dequantize ("QDQ"): ordinary
// products, Conv, Gemm and MatMul, of results of DequantizeLinear. A runtime that knows the form
// sums the bytes themselves; one that does not computes nearly the same in f32.

#include "absl/status/status.h"
#include "firn/io/load_limits.h"
#include "firn/io/onnx/internal/onnx_export_call.h"
#include "firn/io/onnx/internal/onnx_model.h"

namespace firn::io::internal {

// Writes a call of dequantize_linear that reads the sums of int_matmul or int_conv2d. False, having
// written nothing, if it reads something else or the form cannot express it.
bool WriteQdq(OnnxExportCall& n);

// Input i, zero points that calls have as i32, as bytes of this type.
OnnxValue ZeroPointOf(OnnxExportCall& n, size_t i, DType dtype);

// Makes biases that are added to products of this form inputs of these products.
void MergeQdqBiases(OnnxNodes* nodes);

// The reverse, for files that are read: if a product is of bytes and of bytes that are stored in
// the file, the bytes are summed in i32 (ConvInteger, MatMulInteger) and the sums dequantized. All
// other nodes stay as they are, also where a scale is not above 0 or not finite, a zero point of
// another type, or sums may not fit in i32. For products whose first factor the graph quantizes and
// whose second one is stored in the file, a file of WriteQdq gives the bits of the exported graph;
// other products of bytes are computed from floating numbers, with sums in f32. Errors are those of
// reading scales, zero points and biases.
absl::Status FoldQdq(OnnxModel* model, const LoadLimits& limits);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_QDQ_H_

#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_COMPOSE_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_COMPOSE_H_

// Functions of values, to be used like formulas: y = Log(Exp(x) + 1). The pages of io/onnx/export
// compose operations of them for which ONNX has no operator.

#include <cstdint>
#include <vector>

#include "firn/io/onnx/internal/onnx_export_call.h"

namespace firn::io::internal {

// For one value.
OnnxValue Abs(const OnnxValue& x);
OnnxValue Exp(const OnnxValue& x);
OnnxValue Floor(const OnnxValue& x);
OnnxValue Log(const OnnxValue& x);
OnnxValue Sign(const OnnxValue& x);
OnnxValue Sqrt(const OnnxValue& x);
OnnxValue InverseSqrt(const OnnxValue& x);
OnnxValue Zero(const OnnxValue& x);  // 0-d, of its dtype
OnnxValue One(const OnnxValue& x);

// For two.
OnnxValue Max(const OnnxValue& x, const OnnxValue& y);
OnnxValue Max(const OnnxValue& x, double y);
OnnxValue Min(const OnnxValue& x, const OnnxValue& y);
OnnxValue Min(const OnnxValue& x, double y);
OnnxValue operator/(double x, const OnnxValue& y);
OnnxValue Power(const OnnxValue& x, const OnnxValue& y);
OnnxValue MatMul(const OnnxValue& x, const OnnxValue& y);

// For bools.
OnnxValue operator!(const OnnxValue& x);
OnnxValue operator&(const OnnxValue& x, const OnnxValue& y);
OnnxValue operator|(const OnnxValue& x, const OnnxValue& y);
OnnxValue Equal(const OnnxValue& x, double y);
OnnxValue Above(const OnnxValue& x, double y);
OnnxValue Below(const OnnxValue& x, double y);
OnnxValue Above(const OnnxValue& x, const OnnxValue& y);
OnnxValue Below(const OnnxValue& x, const OnnxValue& y);
// For conditions as 0 and 1.
OnnxValue AsNumber(const OnnxValue& condition, DType dtype);
// x or 0.
OnnxValue Where(const OnnxValue& condition, const OnnxValue& x, const OnnxValue& y);
OnnxValue ZeroUnless(const OnnxValue& condition, const OnnxValue& x);

// Sums and means over dimensions that stay as 1; of no dimensions x itself.
OnnxValue SumOver(const OnnxValue& x, const std::vector<int64_t>& dims, bool keep = true);
OnnxValue MeanOver(const OnnxValue& x, const std::vector<int64_t>& dims, bool keep = true);

// 0, ..., rank - 1, and those without `but`.
std::vector<int64_t> Counted(int rank);
std::vector<int64_t> CountedBut(int rank, int64_t but);
// With the last two dimensions exchanged.
OnnxValue LastTwoTurned(const OnnxValue& x, int rank);
// A number for each channel, as it goes with [n, c, ...] of this rank.
OnnxValue PerChannel(const OnnxValue& each, int rank);
// x whose lines along a dimension are multiplied by a matrix [size, size of the result].
OnnxValue AlongDim(const OnnxValue& x, int rank, int64_t dim, const OnnxValue& matrix);

// The dimensions of images in the call's first input, and paddings of both of their ends.
size_t SpatialDims(const OnnxExportCall& n);
std::vector<int64_t> Twice(std::vector<int64_t> pads);
// [n, c, ...] as [n, c, all elements of an image].
OnnxSizes FlatImages(const OnnxSizes& sizes);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_COMPOSE_H_

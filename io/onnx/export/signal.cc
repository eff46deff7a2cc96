// What the Fourier transforms of tensor/ops/signal are in ONNX. They are linear in each line, so
// their matrix, which is what Firn itself makes of unit vectors, says all of them, at every opset
// and for every norm; beyond lines of some length it would be larger than the network around it.
#include "firn/io/onnx/internal/onnx_compose.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

constexpr int64_t kLongest = 1024;

FftNorm NormOf(const OnnxExportCall& n) {
  const firn::inner::WordList words = firn::inner::kWordsOf<FftNorm>;
  return static_cast<FftNorm>(words.Find(n.Word("norm"))->value);
}
// Numbers along a dimension of x become others: [given, made] matrices of them, where complex ones
// have two numbers, in a last dimension of x or of the result.
void Transformed(OnnxExportCall& n, int64_t dim, const Tensor& matrix, bool from_pairs,
                 bool to_pairs) {
  const int lines = n.rank(0) - (from_pairs ? 1 : 0);
  List to_end = CountedBut(lines, dim), back = Counted(lines);
  to_end.push_back(dim);
  back.erase(back.end() - 1);
  back.insert(back.begin() + dim, lines - 1);
  if (from_pairs) to_end.push_back(lines);
  if (to_pairs) back.push_back(lines);
  OnnxSizes flat, made;
  for (size_t d = 0; d + 1 < static_cast<size_t>(lines); ++d) {
    flat.push_back(n.sizes(0)[static_cast<size_t>(to_end[d])]);
  }
  made = flat;
  flat.push_back({matrix.size(0), matrix.size(0)});
  const int64_t numbers = matrix.size(1) / (to_pairs ? 2 : 1);
  made.push_back({numbers, numbers});
  if (to_pairs) made.push_back({2, 2});
  const V x = n.ReshapeTo(n.Transpose(n.in(0), to_end), flat);
  const V y = MatMul(x, n.Constant(matrix.To(n.dtype(0))));
  n.Out(0, n.Transpose(n.ReshapeTo(y, made), back));
}
bool TooLong(OnnxExportCall& n, int64_t length) {
  if (length > kLongest) n.Refuse("of lines of more than 1024 numbers");
  return length > kLongest;
}
Tensor UnitVectors(int64_t count) { return Eye(count).To(DType::kF64); }

void Complex(OnnxExportCall& n, Tensor (*transform)(const Tensor&, const DimList&, FftNorm)) {
  const int64_t dim = n.Dim("dim", n.rank(0) - 1), size = n.size(0, dim);
  if (TooLong(n, size)) return;
  const Tensor units = Reshape(UnitVectors(2 * size), {2 * size, size, 2});
  const Tensor all = transform(units, {1}, NormOf(n));
  Transformed(n, dim, Reshape(all, {2 * size, 2 * size}), true, true);
}
FIRN_ONNX_EXPORT(fft) { Complex(n, Fft); }
FIRN_ONNX_EXPORT(ifft) { Complex(n, Ifft); }
FIRN_ONNX_EXPORT(rfft) {
  const int64_t dim = n.Dim("dim", n.rank(0)), size = n.size(0, dim);
  if (TooLong(n, size)) return;
  const Tensor all = Rfft(UnitVectors(size), {1}, NormOf(n));
  Transformed(n, dim, Reshape(all, {size, all.num_elements() / size}), false, true);
}
FIRN_ONNX_EXPORT(irfft) {
  const int64_t dim = n.Dim("dim", n.rank(0) - 1), given = n.size(0, dim), size = n.Int("size");
  if (TooLong(n, given) || TooLong(n, size)) return;
  const Tensor units = Reshape(UnitVectors(2 * given), {2 * given, given, 2});
  Transformed(n, dim, Irfft(units, size, {1}, NormOf(n)), true, false);
}

}  // namespace
}  // namespace firn::io::internal

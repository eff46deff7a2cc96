// Each is a node or a few; what opsets differ in is in onnx_nodes.cc.
#include "firn/io/onnx/internal/onnx_compose.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace firn::io::internal {

using V = OnnxValue;
using List = std::vector<int64_t>;

V Abs(const V& x) { return x.nodes->Node("Abs", {x}); }
V Exp(const V& x) { return x.nodes->Node("Exp", {x}); }
V Floor(const V& x) { return x.nodes->Node("Floor", {x}); }
V Log(const V& x) { return x.nodes->Node("Log", {x}); }
V Sign(const V& x) { return x.nodes->Node("Sign", {x}); }
V Sqrt(const V& x) { return x.nodes->Node("Sqrt", {x}); }
V InverseSqrt(const V& x) { return x.nodes->Node("Reciprocal", {Sqrt(x)}); }
V Zero(const V& x) { return x.nodes->Number(0, x.dtype); }
V One(const V& x) { return x.nodes->Number(1, x.dtype); }

V Max(const V& x, const V& y) { return x.nodes->Node("Max", {x, y}); }
V Max(const V& x, double y) { return Max(x, x.nodes->Number(y, x.dtype)); }
V Min(const V& x, const V& y) { return x.nodes->Node("Min", {x, y}); }
V Min(const V& x, double y) { return Min(x, x.nodes->Number(y, x.dtype)); }
V operator/(double x, const V& y) { return y.nodes->Number(x, y.dtype) / y; }
V Power(const V& x, const V& y) { return x.nodes->Node("Pow", {x, y}); }
V MatMul(const V& x, const V& y) { return x.nodes->Node("MatMul", {x, y}); }

V operator!(const V& x) { return x.nodes->Node("Not", {x}); }
V operator&(const V& x, const V& y) { return x.nodes->Node("And", {x, y}); }
V operator|(const V& x, const V& y) { return x.nodes->Node("Or", {x, y}); }
V Equal(const V& x, double y) { return x.nodes->Compare("Equal", x, y); }
V Above(const V& x, double y) { return x.nodes->Compare("Greater", x, y); }
V Below(const V& x, double y) { return x.nodes->Compare("Less", x, y); }
V Above(const V& x, const V& y) { return x.nodes->Compare("Greater", x, y); }
V Below(const V& x, const V& y) { return x.nodes->Compare("Less", x, y); }
V AsNumber(const V& condition, DType dtype) { return condition.nodes->Cast(condition, dtype); }
V Where(const V& condition, const V& x, const V& y) { return x.nodes->Where(condition, x, y); }
V ZeroUnless(const V& condition, const V& x) { return Where(condition, x, Zero(x)); }

V SumOver(const V& x, const List& dims, bool keep) {
  return dims.empty() ? x : x.nodes->Reduce("ReduceSum", x, dims, keep);
}
V MeanOver(const V& x, const List& dims, bool keep) {
  return dims.empty() ? x : x.nodes->Reduce("ReduceMean", x, dims, keep);
}

List Counted(int rank) {
  List dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

List CountedBut(int rank, int64_t but) {
  List dims = Counted(rank);
  std::erase(dims, but);
  return dims;
}

V LastTwoTurned(const V& x, int rank) {
  if (rank < 2) return x;
  List order = Counted(rank);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return x.nodes->Transpose(x, order);
}

V PerChannel(const V& each, int rank) {
  List sizes(static_cast<size_t>(std::max(rank - 1, 1)), 1);
  sizes[0] = -1;
  return each.nodes->Reshape(each, sizes);
}

V AlongDim(const V& x, int rank, int64_t dim, const V& matrix) {
  if (dim == rank - 1) return MatMul(x, matrix);
  List order = Counted(rank);
  std::swap(order[static_cast<size_t>(dim)], order.back());
  return x.nodes->Transpose(MatMul(x.nodes->Transpose(x, order), matrix), order);
}

size_t SpatialDims(const OnnxExportCall& n) { return static_cast<size_t>(n.rank(0)) - 2; }

List Twice(List pads) {
  pads.insert(pads.end(), pads.begin(), pads.end());
  return pads;
}

OnnxSizes FlatImages(const OnnxSizes& sizes) {
  OnnxSizes three = {sizes[0], sizes[1], {1, 1}};
  for (size_t i = 2; i < sizes.size(); ++i) {
    three[2].now *= sizes[i].now;
    three[2].other *= sizes[i].other;
  }
  return three;
}

}  // namespace firn::io::internal

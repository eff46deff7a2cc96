// ONNX's forms of the operations in tensor/ops/reduce, and of sorting and searching.
#include <cmath>

#include "firn/io/onnx/internal/onnx_export_call.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

void Reduction(OnnxExportCall& n, const char* op, DType as) {
  const V x = n.in(0, as);
  if (n.rank(0) == 0) return n.Out(0, x);
  n.Out(0, n.Reduce(op, x, n.Dims("dims", n.rank(0)), n.Flag("keepdim")));
}
DType Number(DType dtype) { return dtype == DType::kBool ? DType::kI32 : dtype; }

FIRN_ONNX_EXPORT(sum) { Reduction(n, "ReduceSum", n.out_dtype(0)); }
// Without elements a mean is NaN; runtimes disagree here.
bool OutNan(OnnxExportCall& n, size_t i) {
  if (n.spec(0).shape.num_elements() != 0) return false;
  n.Out(i, n.ExpandTo(n.Number(NAN, n.out_dtype(i)), n.out_sizes(i)));
  return true;
}
FIRN_ONNX_EXPORT(mean) {
  if (!OutNan(n, 0)) Reduction(n, "ReduceMean", n.out_dtype(0));
}
FIRN_ONNX_EXPORT(prod) { Reduction(n, "ReduceProd", n.out_dtype(0)); }
FIRN_ONNX_EXPORT(amax) { Reduction(n, "ReduceMax", Number(n.dtype(0))); }
FIRN_ONNX_EXPORT(amin) { Reduction(n, "ReduceMin", Number(n.dtype(0))); }
FIRN_ONNX_EXPORT(logsumexp) { Reduction(n, "ReduceLogSumExp", n.out_dtype(0)); }
void AllOrAny(OnnxExportCall& n, const char* op) {
  const V x = n.Cast(n.in(0, DType::kBool), DType::kI32);
  n.Out(0, n.rank(0) == 0 ? x : n.Reduce(op, x, n.Dims("dims", n.rank(0)), n.Flag("keepdim")));
}
FIRN_ONNX_EXPORT(all) { AllOrAny(n, "ReduceMin"); }
FIRN_ONNX_EXPORT(any) { AllOrAny(n, "ReduceSum"); }
FIRN_ONNX_EXPORT(norm) {
  const double p = n.Real("p"), scale = n.Real("scale");
  const V x = n.in(0), size = n.Node("Abs", {x});
  const std::vector<int64_t> dims = n.Dims("dims", n.rank(0));
  const bool keep = n.Flag("keepdim");
  V y = size;
  if (n.rank(0) > 0 && std::isinf(p)) {
    y = n.Reduce(p > 0 ? "ReduceMax" : "ReduceMin", size, dims, keep);
  } else if (p == 0) {
    const V some = n.Node("Not", {n.Compare("Equal", x, 0)}, {}, DType::kBool);
    y = n.Cast(some, x.dtype);
    if (n.rank(0) > 0) y = n.Reduce("ReduceSum", y, dims, keep);
  } else if (n.rank(0) > 0 && (p == 1 || p == 2)) {
    y = n.Reduce(p == 1 ? "ReduceL1" : "ReduceL2", x, dims, keep);
  } else if (n.rank(0) > 0) {
    y = n.Node("Pow", {size, n.Number(p, x.dtype)});
    y = n.Node("Pow", {n.Reduce("ReduceSum", y, dims, keep), n.Number(1 / p, x.dtype)});
  }
  n.Out(0, scale == 1 ? y : y * scale);
}
void ArgReduce(OnnxExportCall& n, const char* op) {
  const bool flat = n.Flag("flatten") || n.rank(0) == 0;
  const V x = n.in(0, Number(n.dtype(0)));
  const V index = n.Node(op, {flat ? n.Reshape(x, {-1}) : x},
                         {{"axis", flat ? int64_t{0} : n.Dim("dim", n.rank(0))},
                          {"keepdims", !flat && n.Flag("keepdim")}},
                         DType::kI64);
  n.Out(0, flat ? n.ReshapeTo(index, n.out_sizes(0)) : index);
}
FIRN_ONNX_EXPORT(argmax) { ArgReduce(n, "ArgMax"); }
FIRN_ONNX_EXPORT(argmin) { ArgReduce(n, "ArgMin"); }

void Variance(OnnxExportCall& n, bool root) {
  if (OutNan(n, 0)) {
    if (n.wants(1)) OutNan(n, 1);
    return;
  }
  const std::vector<int64_t> dims = n.Dims("dims", n.rank(0));
  double count = 1;
  for (const int64_t dim : dims) count *= static_cast<double>(n.size(0, dim));
  const V x = n.in(0), mean = n.rank(0) == 0 ? x : n.Reduce("ReduceMean", x, dims, true);
  const V square = (x - mean) * (x - mean);
  V y = n.rank(0) == 0 ? square : n.Reduce("ReduceSum", square, dims, n.Flag("keepdim"));
  y = y / (count - n.Real("correction"));
  n.Out(0, root ? n.Node("Sqrt", {y}) : y);
  if (n.wants(1)) n.Out(1, n.ReshapeTo(mean, n.out_sizes(1)));
}
FIRN_ONNX_EXPORT(var) { Variance(n, false); }
FIRN_ONNX_EXPORT(std) { Variance(n, true); }

void Top(OnnxExportCall& n, int64_t k, bool largest, bool sorted) {
  if (n.rank(0) == 0) return n.Refuse("of a number without dimensions");
  const V x = n.in(0, Number(n.dtype(0)));
  const auto found =
      n.NodeOf("TopK", {x, n.Ints({k})}, {x.dtype, DType::kI64},
               {{"axis", n.Dim("dim", n.rank(0))}, {"largest", largest}, {"sorted", sorted}});
  n.Out(0, found[0]);
  n.Out(1, found[1]);
}
FIRN_ONNX_EXPORT(sort) {
  if (n.rank(0) == 0) return n.Refuse("of a number without dimensions");
  Top(n, n.size(0, n.Int("dim")), n.Flag("descending"), true);
}
FIRN_ONNX_EXPORT(topk) { Top(n, n.Int("k"), n.Flag("largest"), n.Flag("sorted")); }
FIRN_ONNX_EXPORT(searchsorted) {
  const V table = n.in(0, Number(n.dtype(0)));
  const V sorted = n.rank(0) == 1 ? table : n.Unsqueeze(table, {-2});
  const V values = n.Unsqueeze(n.in(1, table.dtype), {-1});
  V below = n.Compare(n.Flag("right") ? "LessOrEqual" : "Less", sorted, values);
  if (IsFloating(table.dtype)) {  // a NaN stands behind all numbers
    const auto nan = [&](const V& x) { return n.Node("IsNaN", {x}, {}, DType::kBool); };
    const V number = n.Node("Not", {nan(sorted)}), last = nan(values);
    below = n.Node("Or", {below, n.Flag("right") ? last : n.Node("And", {number, last})});
  }
  n.Out(0, n.Reduce("ReduceSum", n.Cast(below, DType::kI64), {-1}, false));
}
FIRN_ONNX_EXPORT(channel_sum) {
  std::vector<int64_t> dims;
  for (int d = 0; d < n.rank(0); ++d) {
    if (d != 1) dims.push_back(d);
  }
  n.Out(0, n.Reduce("ReduceSum", n.in(0), dims, false));
}

}  // namespace
}  // namespace firn::io::internal

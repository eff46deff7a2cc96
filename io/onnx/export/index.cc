// ONNX's forms of the operations in tensor/ops/index.
#include <algorithm>
#include <numeric>

#include "firn/io/onnx/internal/onnx_compose.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

FIRN_ONNX_EXPORT(embedding) { n.Out(0, n.Node("Gather", {n.in(1), n.in(0)}, {{"axis", 0}})); }
FIRN_ONNX_EXPORT(embedding_bag_rows) {
  if (n.Int("padding_idx") != INT64_MIN) return n.Refuse("with a padding index");
  const V rows = n.Node("Gather", {n.in(1), n.in(0)}, {{"axis", 0}});
  n.Out(0, n.Reduce(n.Flag("mean") ? "ReduceMean" : "ReduceSum", rows, {-2}, false));
}
// Indices of one dimension of x, as tuples. The first dimensions of x and indices may be shared; x
// is permuted so that the shared ones come first and the indexed one behind them.
struct OneIndex {
  V tuples, ignored;  // ignored: of each index; absent: none
  List front;         // permutes x's dimensions in this way
  List back;          // permutes those of the picked elements to the result's order
};
List Inverse(const List& order) {
  List inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return inverse;
}
OneIndex OneIndexOf(OnnxExportCall& n) {
  const int rank = n.rank(0), indices = n.rank(1);
  const int64_t dim = n.Dim("dim", rank), batch = n.Int("batch_dims");
  OneIndex at = {n.Absent(), n.Absent(), CountedBut(rank, dim), {}};
  at.front.insert(at.front.begin() + batch, dim);
  // Dimensions of the picked elements: the shared ones, those of the indices, the others.
  at.back = Counted(static_cast<int>(batch));
  for (int64_t d = 0; d < dim - batch; ++d) at.back.push_back(indices + d);
  for (int64_t d = batch; d < indices; ++d) at.back.push_back(d);
  for (int64_t d = dim - batch; d < rank - 1 - batch; ++d) at.back.push_back(indices + d);
  V index = n.in(1, DType::kI64);
  if (n.Int("ignored") != INT64_MIN) {
    at.ignored = Equal(index, static_cast<double>(n.Int("ignored")));
    index = Where(at.ignored, n.Integer(0), index);
  }
  OnnxNodes::Inputs parts;
  for (int64_t d = 0; d < batch; ++d) {
    const V size = n.Squeeze(n.ShapeTensor({n.sizes(1)[static_cast<size_t>(d)]}), {0});
    List line(static_cast<size_t>(indices), 1);
    line[static_cast<size_t>(d)] = -1;
    const V places = n.Node("Range", {n.Integer(0), size, n.Integer(1)}, {}, DType::kI64);
    parts.push_back(n.Unsqueeze(n.ExpandTo(n.Reshape(places, line), n.sizes(1)), {-1}));
  }
  parts.push_back(n.Unsqueeze(index, {-1}));
  at.tuples = n.Concat(parts, -1);
  return at;
}
// The picked elements, 0 where the index is ignored.
V Unignored(OnnxExportCall& n, const OneIndex& at, const V& picked) {
  if (at.ignored.name.empty()) return picked;
  List dims;
  for (int d = n.rank(1); d < static_cast<int>(at.back.size()); ++d) dims.push_back(d);
  return ZeroUnless(!n.Unsqueeze(at.ignored, dims), picked);
}
V InOrder(OnnxExportCall& n, const V& x, const List& order) {
  return order == Counted(static_cast<int>(order.size())) ? x : n.Transpose(x, order);
}
FIRN_ONNX_EXPORT(index_select) {
  if (n.Int("batch_dims") == 0 && n.Int("ignored") == INT64_MIN) {
    return n.Out(0, n.Node("Gather", {n.in(0), n.in(1)}, {{"axis", n.Dim("dim", n.rank(0))}}));
  }
  const OneIndex at = OneIndexOf(n);
  const V picked = n.Node("GatherND", {InOrder(n, n.in(0), at.front), at.tuples});
  n.Out(0, InOrder(n, Unignored(n, at, picked), at.back));
}
FIRN_ONNX_EXPORT(gather) {
  if (n.rank(0) == 0) return n.Refuse("of a number without dimensions");
  n.Out(0, n.Node("GatherElements", {n.in(0), n.in(1)}, {{"axis", n.Dim("dim", n.rank(0))}}));
}
void ScatterInto(OnnxExportCall& n, const char* how, int opset) {
  n.NeedsOpset(opset);
  if (n.rank(0) == 0) return n.Refuse("of a number without dimensions");
  OnnxNodes::Attributes attributes = {{"axis", n.Dim("dim", n.rank(0))}};
  if (how != nullptr) attributes.emplace_back("reduction", how);
  V source = n.in(2, n.dtype(0));
  if (n.spec(1).shape != n.spec(2).shape) {
    for (int d = 0; d < n.rank(2); ++d) source = n.Slice(source, d, 0, n.size(1, d));
  }
  n.Out(0, n.Node("ScatterElements", {n.in(0), n.in(1), source}, attributes));
}
FIRN_ONNX_EXPORT(scatter) { ScatterInto(n, nullptr, 13); }
FIRN_ONNX_EXPORT(scatter_add) { ScatterInto(n, "add", 16); }
FIRN_ONNX_EXPORT(scatter_reduce) {
  const std::string& how = n.Word("reduce");
  if (how == "prod") return ScatterInto(n, "mul", 16);
  if (how == "amax") return ScatterInto(n, "max", 18);
  if (how == "amin") return ScatterInto(n, "min", 18);
  n.Refuse("of the reduction " + how);
}
FIRN_ONNX_EXPORT(index_add) {
  n.NeedsOpset(16);
  const OneIndex at = OneIndexOf(n);
  V source = InOrder(n, n.in(2, n.dtype(0)), Inverse(at.back));
  source = Unignored(n, at, source);
  if (n.Real("alpha") != 1) source = source * n.Real("alpha");
  const V sum = n.Node("ScatterND", {InOrder(n, n.in(0), at.front), at.tuples, source},
                       {{"reduction", "add"}});
  n.Out(0, InOrder(n, sum, Inverse(at.front)));
}

// Indices of several dimensions as tuples, for x with these dimensions in front.
struct Tuples {
  V indices;
  List order;      // that brings the dimensions to the front
  int shared = 0;  // the rank of the broadcast indices
};
Tuples TuplesOf(OnnxExportCall& n, int rank, size_t first) {
  Tuples tuples;
  tuples.order = n.Dims("dims", rank);
  const size_t indexed = tuples.order.size();
  for (int64_t d = 0; d < rank; ++d) {
    if (std::find(tuples.order.begin(), tuples.order.begin() + static_cast<int64_t>(indexed), d) ==
        tuples.order.begin() + static_cast<int64_t>(indexed)) {
      tuples.order.push_back(d);
    }
  }
  OnnxSizes common;
  for (size_t i = 0; i < indexed; ++i) {
    tuples.shared = std::max(tuples.shared, n.rank(first + i));
  }
  common.assign(static_cast<size_t>(tuples.shared), {1, 1});
  for (size_t i = 0; i < indexed; ++i) {
    const OnnxSizes sizes = n.sizes(first + i);
    for (size_t d = 0; d < sizes.size(); ++d) {
      OnnxSize& size = common[common.size() - sizes.size() + d];
      if (sizes[d].now != 1) size = sizes[d];
    }
  }
  OnnxNodes::Inputs parts;
  for (size_t i = 0; i < indexed; ++i) {
    const V index = n.ExpandTo(n.in(first + i, DType::kI64), common);
    parts.push_back(n.Unsqueeze(index, {-1}));
  }
  tuples.indices = n.Concat(parts, -1);
  return tuples;
}
// Where the dimensions of the indices stand in the result: where they were if they were neighbours.
List Back(const Tuples& tuples, const List& dims, int rank) {
  const size_t indexed = dims.size();
  bool neighbours = true;
  for (size_t i = 1; i < indexed; ++i) neighbours &= dims[i] == dims[i - 1] + 1;
  const auto all = static_cast<int64_t>(tuples.shared + rank) - static_cast<int64_t>(indexed);
  List order(static_cast<size_t>(all));
  std::iota(order.begin(), order.end(), 0);
  if (neighbours && indexed > 0 && dims[0] > 0) {
    std::rotate(order.begin(), order.begin() + tuples.shared,
                order.begin() + tuples.shared + dims[0]);
  }
  return order;
}
FIRN_ONNX_EXPORT(index) {
  const List dims = n.Dims("dims", n.rank(0));
  if (dims.size() == 1) {
    return n.Out(0, n.Node("Gather", {n.in(0), n.in(1)}, {{"axis", dims[0]}}));
  }
  const Tuples tuples = TuplesOf(n, n.rank(0), 1);
  const V y = n.Node("GatherND", {n.Transpose(n.in(0), tuples.order), tuples.indices});
  if (n.out_rank(0) == 0) return n.Out(0, y);
  n.Out(0, n.Transpose(y, Back(tuples, dims, n.rank(0))));
}
V Put(OnnxExportCall& n, bool add) {
  if (add) n.NeedsOpset(16);
  const int rank = n.rank(0);
  const List dims = n.Dims("dims", rank);
  const Tuples tuples = TuplesOf(n, rank, 2);
  // The values as the result of Index has them, then with the indices' dimensions in front.
  const List back = Back(tuples, dims, rank);
  const List front = Inverse(back), undo = Inverse(tuples.order);
  const V x = n.Transpose(n.in(0), tuples.order);
  const V like = n.Node("Shape", {n.Transpose(n.Node("GatherND", {x, tuples.indices}), back)}, {},
                        DType::kI64);
  const V values = n.Transpose(n.Node("Expand", {n.in(1, n.dtype(0)), like}), front);
  OnnxNodes::Attributes attributes;
  if (add) attributes.emplace_back("reduction", "add");
  return n.Transpose(n.Node("ScatterND", {x, tuples.indices, values}, attributes), undo);
}
FIRN_ONNX_EXPORT(index_put) { n.Out(0, Put(n, n.Flag("accumulate"))); }
FIRN_ONNX_EXPORT(index_write) { n.Write(0, Put(n, false)); }

FIRN_ONNX_EXPORT(one_hot) {
  if (n.rank(0) == 0) return n.Refuse("of a number without dimensions");
  // Runtimes have it for few types of the three.
  const DType dtype = IsFloating(n.out_dtype(0)) ? DType::kF32 : DType::kI64;
  const int64_t classes = n.out_spec(0).shape[n.out_rank(0) - 1];
  n.Out(0,
        n.Node("OneHot", {n.in(0, DType::kI64), n.Ints({classes}), n.Cast(n.Ints({0, 1}), dtype)},
               {{"axis", -1}}, dtype));
}
FIRN_ONNX_EXPORT(nonzero) {
  n.Out(0, n.Transpose(n.Node("NonZero", {n.in(0)}, {}, DType::kI64), {1, 0}));
}
FIRN_ONNX_EXPORT(masked_pack) {
  const V mask = n.Reshape(n.ExpandTo(n.in(1), n.sizes(0)), {-1});
  const V found = n.Node("Compress", {n.Reshape(n.in(0), {-1}), mask});
  const int64_t count = n.out_shape(0)[0];  // zeros behind the existing elements
  const V zeros = n.ExpandTo(n.Number(0, n.dtype(0)), n.out_sizes(0));
  n.Out(0, n.Slice(n.Concat({found, zeros}, 0), 0, 0, count));
}
FIRN_ONNX_EXPORT(masked_unpack) {
  if (n.spec(2).num_elements() == 0) return n.Out(0, n.in(0));
  const V mask = n.Reshape(n.ExpandTo(n.in(1), n.sizes(0)), {-1});
  const V count = n.Node("CumSum", {n.Cast(mask, DType::kI64), n.Integer(0)});
  const V at = n.Node("Max", {count - 1.0, n.Integer(0)});
  const V source = n.Node("Gather", {n.Reshape(n.in(2), {-1}), at}, {{"axis", 0}});
  n.Out(0, n.Where(n.in(1), n.ReshapeTo(source, n.sizes(0)), n.in(0)));
}

}  // namespace
}  // namespace firn::io::internal

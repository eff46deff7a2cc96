// NNabla's forms of the operations in tensor/ops/reduce and scan.
#include <algorithm>
#include <cmath>

#include "firn/io/nnabla_network/internal/nnabla_export_call.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

V Reduced(NnablaExportCall& n, const char* type, const V& x) {
  return n.Reduce(type, x, n.Dims("dims", n.rank(0)), n.Flag("keepdim"));
}
FIRN_NNABLA_EXPORT(sum) { n.Out(0, Reduced(n, "Sum", n.in(0))); }
FIRN_NNABLA_EXPORT(mean) { n.Out(0, Reduced(n, "Mean", n.in(0))); }
FIRN_NNABLA_EXPORT(prod) { n.Out(0, Reduced(n, "Prod", n.in(0))); }
FIRN_NNABLA_EXPORT(amax) { n.Out(0, Reduced(n, "Max", n.in(0))); }
FIRN_NNABLA_EXPORT(amin) { n.Out(0, Reduced(n, "Min", n.in(0))); }
FIRN_NNABLA_EXPORT(all) { n.Out(0, Reduced(n, "Min", n.Binary("NotEqual", n.in(0), 0))); }
FIRN_NNABLA_EXPORT(any) { n.Out(0, Reduced(n, "Max", n.Binary("NotEqual", n.in(0), 0))); }
// max + log(sum(exp(x - max))), where a maximum that is no number counts as 0.
FIRN_NNABLA_EXPORT(logsumexp) {
  const Numbers dims = n.Dims("dims", n.rank(0));
  const V x = n.in(0), most = n.Reduce("Max", x, dims, true);
  const V finite = n.Binary("Less", n.Node("Abs", {most}), INFINITY);
  const V base = n.Where(finite, most, n.Number(0));
  const V sum = n.Reduce("Sum", n.Node("Exp", {x - base}), dims, true);
  n.Out(0, n.Node("Log", {sum}) + base);
}
FIRN_NNABLA_EXPORT(norm) {
  const double p = n.Real("p"), scale = n.Real("scale");
  const V x = n.in(0), size = n.Node("Abs", {x});
  V y;
  if (std::isinf(p)) {
    y = Reduced(n, p > 0 ? "Max" : "Min", size);
  } else if (p == 0) {
    y = Reduced(n, "Sum", n.Binary("NotEqual", x, 0));
  } else if (p == 1) {
    y = Reduced(n, "Sum", size);
  } else if (p == 2) {
    y = n.Binary("Pow2", Reduced(n, "Sum", x * x), 0.5);
  } else {
    y = n.Binary("Pow2", Reduced(n, "Sum", n.Binary("Pow2", size, p)), 1 / p);
  }
  n.Out(0, scale == 1 ? y : y * scale);
}
void ArgReduce(NnablaExportCall& n, const char* type) {
  const bool flat = n.Flag("flatten") || n.rank(0) == 0;
  const int64_t count = n.spec(0).shape.num_elements();
  const V x = flat ? n.Reshape(n.in(0), Numbers{count}) : n.in(0);
  if (flat) n.Fixed(n.sizes(0));
  const int64_t dim = flat ? 0 : n.Dim("dim", n.rank(0));
  CapturedSizes sizes = x.sizes;
  sizes[static_cast<size_t>(dim)] = {1, 1};
  n.Out(0, n.Node(type, {x}, {{"axes", Numbers{dim}}, {"keep_dims", true}, {"only_index", true}},
                  sizes));
}
FIRN_NNABLA_EXPORT(argmax) { ArgReduce(n, "Max"); }
FIRN_NNABLA_EXPORT(argmin) { ArgReduce(n, "Min"); }

void Variance(NnablaExportCall& n, bool root) {
  const Numbers dims = n.Dims("dims", n.rank(0));
  double count = 1;
  for (const int64_t dim : dims) count *= static_cast<double>(n.size(0, dim));
  const V x = n.in(0), mean = n.Reduce("Mean", x, dims, true);
  const V square = (x - mean) * (x - mean);
  V y = n.Reduce("Sum", square, dims, n.Flag("keepdim")) * (1 / (count - n.Real("correction")));
  n.Out(0, root ? n.Binary("Pow2", y, 0.5) : y);
  if (n.wants(1)) n.Out(1, mean);
}
FIRN_NNABLA_EXPORT(var) { Variance(n, false); }
FIRN_NNABLA_EXPORT(std) { Variance(n, true); }

// NNabla has equal numbers in any order.
std::vector<V> Sorted(NnablaExportCall& n, int64_t dim, bool descending) {
  return n.NodeOf("Sort", {n.in(0)}, {{"axis", dim}, {"reverse", descending}, {"with_index", true}},
                  {n.sizes(0), n.sizes(0)});
}
FIRN_NNABLA_EXPORT(sort) {
  if (n.rank(0) == 0) return n.Refuse("of a number without dimensions");
  const auto found = Sorted(n, n.Dim("dim", n.rank(0)), n.Flag("descending"));
  n.Out(0, found[0]);
  n.Out(1, found[1]);
}
FIRN_NNABLA_EXPORT(topk) {
  if (n.rank(0) == 0) return n.Refuse("of a number without dimensions");
  const int64_t dim = n.Dim("dim", n.rank(0));
  const auto found = Sorted(n, dim, n.Flag("largest"));
  n.Out(0, n.Slice(found[0], dim, 0, n.Int("k")));
  n.Out(1, n.Slice(found[1], dim, 0, n.Int("k")));
}
// How many of the sorted numbers are below each.
FIRN_NNABLA_EXPORT(searchsorted) {
  const V table = n.rank(0) == 1 ? n.in(0) : n.Unsqueeze(n.in(0), {n.rank(0) - 1});
  const V values = n.Unsqueeze(n.in(1), {n.rank(1)});
  const V below = n.Binary(n.Flag("right") ? "LessEqual" : "Less", table, values);
  n.Out(0, n.Reduce("Sum", below, {below.rank() - 1}, false));
}
FIRN_NNABLA_EXPORT(channel_sum) {
  Numbers dims = NnablaNodes::OrderOf(n.rank(0));
  std::erase(dims, 1);
  n.Out(0, n.Reduce("Sum", n.in(0), dims, false));
}

}  // namespace
}  // namespace firn::io::internal

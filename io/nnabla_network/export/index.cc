// NNabla's forms of the operations in tensor/ops/index.
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

constexpr char kIgnored[] = "with an ignored index";

CapturedSizes Joined(CapturedSizes a, const CapturedSizes& b, size_t from = 0) {
  a.insert(a.end(), b.begin() + static_cast<int64_t>(from), b.end());
  return a;
}
V Embed(NnablaExportCall& n) {
  return n.Node("Embed", {n.in(0), n.in(1)}, {}, Joined(n.sizes(0), n.sizes(1), 1));
}
FIRN_NNABLA_EXPORT(embedding) { n.Out(0, Embed(n)); }
FIRN_NNABLA_EXPORT(embedding_bag_rows) {
  if (n.Int("padding_idx") != INT64_MIN) return n.Refuse("with a padding index");
  n.Out(0, n.Reduce(n.Flag("mean") ? "Mean" : "Sum", Embed(n), {n.rank(0) - 1}, false));
}
// Places are counted from the front in NNabla.
V FromFront(NnablaExportCall& n, const V& places, int64_t size) {
  return places + n.Binary("Less", places, 0) * static_cast<double>(size);
}
FIRN_NNABLA_EXPORT(index_select) {
  if (n.Int("ignored") != INT64_MIN) return n.Refuse(kIgnored);
  const int64_t dim = n.Dim("dim", n.rank(0));
  n.Out(0, n.Node("Gather", {n.in(0), FromFront(n, n.in(1), n.size(0, dim))},
                  {{"axis", dim}, {"batch_dims", n.Int("batch_dims")}}, n.out_sizes(0)));
}
V Added(NnablaExportCall& n, const V& index, const V& source) {
  return n.Node("ScatterAdd", {n.in(0), index, source}, {{"axis", n.Dim("dim", n.rank(0))}});
}
FIRN_NNABLA_EXPORT(scatter_add) {
  if (n.rank(0) == 0) return n.Refuse("of a number without dimensions");
  V source = n.in(2);
  for (int d = 0; d < n.rank(2); ++d) source = n.Slice(source, d, 0, n.size(1, d));
  n.Out(0, Added(n, FromFront(n, n.in(1), n.size(0, n.Dim("dim", n.rank(0)))), source));
}
FIRN_NNABLA_EXPORT(index_add) {
  if (n.Int("batch_dims") != 0) return n.Refuse("with dimensions of a batch");
  if (n.Int("ignored") != INT64_MIN) return n.Refuse(kIgnored);
  if (n.rank(1) != 1 || n.rank(0) == 0) return n.Refuse("of anything but a list of places");
  const int64_t dim = n.Dim("dim", n.rank(0));
  V source = n.in(2);
  if (n.Real("alpha") != 1) source = source * n.Real("alpha");
  Numbers sizes(static_cast<size_t>(n.rank(0)), 1);
  sizes[static_cast<size_t>(dim)] = n.size(1, 0);
  const V index = n.Reshape(FromFront(n, n.in(1), n.size(0, dim)), sizes);
  n.Out(0, Added(n, n.Broadcast(index, n.sizes(2)), source));
}
FIRN_NNABLA_EXPORT(one_hot) {
  n.Out(0, n.Node("OneHot", {n.Unsqueeze(n.in(0), {n.rank(0)})},
                  {{"shape", Numbers{n.out_spec(0).shape[n.out_rank(0) - 1]}}}, n.out_sizes(0)));
}

FIRN_NNABLA_NO_EXPORT(scatter_reduce, "NNabla adds or writes where indices say, and nothing else");
constexpr char kElements[] = "elements decide where elements of the result come from";
FIRN_NNABLA_NO_EXPORT(nonzero, kElements);
FIRN_NNABLA_NO_EXPORT(masked_pack, kElements);
FIRN_NNABLA_NO_EXPORT(masked_unpack, kElements);

}  // namespace
}  // namespace firn::io::internal

// A view keeps channels when both shapes begin with the same two sizes and it lies row-major over
// all the elements: then it is a reshape of what follows the channels.

#include "firn/autograd/graph/passes/channel_source.h"

#include <algorithm>

#include "firn/tensor/op.h"

namespace firn {
namespace {

bool KeepsChannels(const TensorSpec& from, const TensorSpec& to) {
  const Shape &a = from.shape, &b = to.shape;
  return from.dense() && to.layout.contiguous && a.num_elements() == b.num_elements() &&
         a.rank() >= 2 && b.rank() >= 2 && a[0] == b[0] && a[1] == b[1];
}

bool IsPlainTemp(const Graph& graph, const Uses& uses, ValueId id) {
  return graph.buffer_of(id).kind == Buffer::Kind::kTemp && !uses.changed(graph.value(id).buffer);
}

}  // namespace

std::optional<ChannelSource> FindChannelSource(const Graph& graph, const Uses& uses, ValueId id,
                                               bool alone) {
  ChannelSource source{Uses::kNone, {}, id};
  while (IsPlainTemp(graph, uses, id)) {
    source.result = id;
    source.maker = uses.maker(id);
    if (source.maker == Uses::kNone) return {};
    const Instr& instr = graph.instrs[source.maker];
    if (!instr.op->is_view) {
      std::reverse(source.views.begin(), source.views.end());
      return source;
    }
    const ValueId base = instr.in[0];
    if (!KeepsChannels(graph.value(base).spec, graph.value(id).spec)) return {};
    if (alone && (uses.readers(base).size() != 1 || uses.leaves(base))) return {};
    source.views.push_back(source.maker);
    id = base;
  }
  return {};
}

const ChannelMap* ChannelMapOf(const Graph& graph, const Instr& instr) {
  const std::optional<ChannelMap>& map = TraitsOf(*instr.op).channel_map;
  if (!map) return nullptr;
  const int rank = graph.value(instr.out[0]).spec.shape.rank();
  return map->channels == 1 || map->channels + rank == 1 ? &*map : nullptr;
}

bool UnchangedBetween(const Graph& graph, const Uses& uses, ValueId id, size_t before, size_t at) {
  if (id == kNoValue) return true;
  const BufferId buffer = graph.value(id).buffer;
  return uses.VersionAt(buffer, before) == uses.VersionAt(buffer, at);
}

}  // namespace firn

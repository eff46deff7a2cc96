#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_CHANNEL_SOURCE_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_CHANNEL_SOURCE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/graph.h"
#include "firn/tensor/graph_traits.h"

namespace firn {

// Where a value with channels (dimension 1) was computed: an operation, and the views after it, in
// their order, that give its result another shape with the same channels.
struct ChannelSource {
  size_t maker;
  std::vector<size_t> views;
  ValueId result;  // of the maker
};

// The source of `id`, or nothing when a value on the way changes in place, is no temporary or is
// made by no operation. With `alone`, also nothing if another operation reads a value before `id`,
// or such a value leaves the graph.
std::optional<ChannelSource> FindChannelSource(const Graph& graph, const Uses& uses, ValueId id,
                                               bool alone);

// How `instr` computes its result channel by channel; null if it does not, or if its channels are
// not dimension 1.
const ChannelMap* ChannelMapOf(const Graph& graph, const Instr& instr);

// True if operation `at` would read of `id` what operation `before` read.
bool UnchangedBetween(const Graph& graph, const Uses& uses, ValueId id, size_t before, size_t at);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_CHANNEL_SOURCE_H_

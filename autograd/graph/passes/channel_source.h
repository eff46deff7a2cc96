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

// The source of `id`, or nothing when something on the way changes in place, lies elsewhere than in
// a temporary or is made by no operation. With `alone`, nothing either if what lies before `id` is
// read by anything else or leaves the graph.
std::optional<ChannelSource> FindChannelSource(const Graph& graph, const Uses& uses, ValueId id,
                                               bool alone);

// How `instr` makes its result by channels, or null where it does not, or not by dimension 1.
const ChannelMap* ChannelMapOf(const Graph& graph, const Instr& instr);

// True if operation `at` would read of `id` what operation `before` read.
bool UnchangedBetween(const Graph& graph, const Uses& uses, ValueId id, size_t before, size_t at);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_CHANNEL_SOURCE_H_

#ifndef FIRN_AUTOGRAD_GRAPH_STREAMS_H_
#define FIRN_AUTOGRAD_GRAPH_STREAMS_H_

// Which operations of a graph run on a second stream of their device, beside the others.
//
// In a training step's backward pass only the gradients of activations wait for one another; each
// layer's weight gradients are needed by the optimizer alone. The plan finds such operations by the
// shape of the graph, not by their names: the longest path through it, measured in bytes moved,
// stays on the main stream. An operation whose result that path needs only after at least the
// operation's own time may go aside: chains stay together, and a branch goes to the stream that is
// free first, aside if both are. Both streams keep the program's order, so an operation waits for
// at most one of the other stream: the last one that it depends on.
//
// Memory lives longer that way: until the other stream has waited for the last user. A stream
// therefore also waits for operations that have had twice the time they take, which gives memory
// back at no cost. If two streams still cost more than an eighth of memory, it waits, where much is
// in use, for all operations but the latest.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/graph.h"

namespace firn {

// Operations are known by their position in `instrs`.
struct StreamPlan {
  static constexpr size_t kNone = SIZE_MAX;

  std::vector<bool> aside;  // by operation; empty: all run on one stream
  // By operation: the one of the other stream that must be done before it begins, or kNone. The
  // first operation aside always waits for one, so that the side stream begins behind the main one.
  std::vector<size_t> wait_for;
  // The operation aside for which the main stream waits after its own last one; kNone: it has
  // waited for all.
  size_t join = kNone;
};

// Operations on one buffer keep their order, unless all only read. Only operations in
// `may_go_aside` (by operation) go aside. The plan has one stream if two would cost an eighth more
// memory.
StreamPlan PlanStreams(const Graph& graph, const std::vector<bool>& may_go_aside);

// By operation p: the last operation that may run at the same time as it, or after it in the
// program and before it in time; p itself if there is none. The buffers of p are in use until then.
std::vector<size_t> InUseUntil(const StreamPlan& plan);

// LifespansOf for runs on two streams.
std::vector<Lifespan> LifespansOn(const Graph& graph, const StreamPlan& plan);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_STREAMS_H_

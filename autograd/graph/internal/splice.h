#ifndef FIRN_AUTOGRAD_GRAPH_INTERNAL_SPLICE_H_
#define FIRN_AUTOGRAD_GRAPH_INTERNAL_SPLICE_H_

// The steps that edits of graphs are made of. Between two steps a graph may be inconsistent.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"

namespace firn::inner::internal {

// Operations of one graph that name another graph's values.
struct Spliced {
  std::vector<Instr> instrs;  // not yet in the graph
  std::vector<ValueId> outputs;
};

// Takes the values of `part` into `graph`; its inputs are `arguments` there. States and constants
// of one storage become one. Errors: InvalidArgument where an argument does not fit the input.
absl::StatusOr<Spliced> Splice(Graph& graph, const Graph& part,
                               absl::Span<const ValueId> arguments);

// Replaces values throughout a graph. Views of a replaced value become views of its replacement.
class Replacing {
 public:
  // Notes which value is a view of which. Values may be added to the graph afterwards, operations
  // not.
  explicit Replacing(const Graph& graph);

  // From now on `to` stands for `from`.
  void Add(ValueId from, ValueId to) { now_.emplace_back(from, to); }
  // A value with the elements of `id` that views of `like` can be taken of: `id` itself, or a copy
  // that an operation appended to `instrs` makes.
  static absl::StatusOr<ValueId> Alike(Graph& graph, ValueId id, ValueId like,
                                       std::vector<Instr>* instrs);
  // Renames in all operations and results. A value that is held outside (a gradient that stays)
  // gets a copy at the end of the run. Requires: the operations are those that the constructor saw;
  // new ones are put in afterwards. Errors: those of shape rules of views; InvalidArgument for a
  // view that is held outside.
  absl::Status Apply(Graph& graph) const;

 private:
  ValueId Now(ValueId id) const;
  absl::Status KeepHeld(Graph& graph) const;

  std::vector<std::pair<ValueId, ValueId>> now_;
  std::vector<bool> alias_;  // by operation
};

}  // namespace firn::inner::internal

#endif  // FIRN_AUTOGRAD_GRAPH_INTERNAL_SPLICE_H_

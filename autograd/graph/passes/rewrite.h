#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_REWRITE_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_REWRITE_H_

// Steps that passes are made of.

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/tensor/op.h"

namespace firn {

// A call of `op` with new values for its results: temporaries, or for a view a place in its
// argument. The operation is not yet in the graph. Errors: those of its shape rule.
absl::StatusOr<Instr> MakeInstr(Graph& graph, const OpDef& op, absl::Span<const ValueId> in,
                                AttrsRef attrs = {});

// Makes instructions on behalf of one that is being replaced: with its module and phase.
class Emitter {
 public:
  Emitter(Graph& graph, const Instr& on_behalf_of, std::vector<Instr>* to)
      : graph_(graph), path_(on_behalf_of.path), phase_(on_behalf_of.phase), to_(to) {}

  // Appends a call and gives its first result, kNoValue when it has none.
  absl::StatusOr<ValueId> Call(const OpDef& op, absl::Span<const ValueId> in, AttrsRef attrs = {});
  // `id` (or kNoValue) itself, or a conversion of it.
  absl::StatusOr<ValueId> As(DType dtype, ValueId id);

 private:
  Graph& graph_;
  const std::string* path_;
  Phase phase_;
  std::vector<Instr>* to_;
};

// An operation that is put in before the one that stands at a position.
struct Insertion {
  size_t before;
  Instr instr;
};
// Drops the operations that are `gone` (by position; empty: none) and puts `added` in, those of one
// place in their order. Requires: places below the number of operations.
void Rearrange(Graph& graph, const std::vector<bool>& gone, std::vector<Insertion> added = {});

// A constant of the graph.
ValueId AddConstant(Graph& graph, const Tensor& tensor);

// Renames values, so that the readers of one read another: in the whole graph, once, at the end of
// a pass.
class Renaming {
 public:
  // From now on `to` stands for `from`, and views in `from`'s buffer become views in `to`'s.
  // Requires: CanReplace.
  void Replace(Graph& graph, ValueId from, ValueId to);
  // True if the two are described alike, so that views of one are views of the other.
  static bool CanReplace(const Graph& graph, ValueId from, ValueId to);
  ValueId Now(ValueId id) const;
  void RenameInputs(Instr& instr) const;
  // Renames in all instructions, results and gradients.
  void Apply(Graph& graph) const;

 private:
  // Lists the values that the graph got since the last call.
  void ListValues(const Graph& graph);

  std::vector<ValueId> now_;  // by value; kNoValue and beyond the end: itself
  // By buffer: the values that lie there. Without these lists each replacement would walk over all
  // values, which takes a time that grows with the square of their number.
  std::vector<std::vector<ValueId>> values_in_;
  size_t listed_ = 0;  // values before this are in the lists
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_REWRITE_H_

#ifndef FIRN_AUTOGRAD_GRAPH_VISIT_H_
#define FIRN_AUTOGRAD_GRAPH_VISIT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "firn/autograd/graph/graph.h"

namespace firn {

// A value as one operation sees it.
struct ValueView {
  ValueId id = kNoValue;
  const TensorSpec* spec = nullptr;  // null: an optional argument that is not given
};

// One operation of a graph, for reading. Points into the graph.
struct OpView {
  size_t index = 0;  // in the order in which operations run
  const Instr* instr = nullptr;
  std::string_view name;         // "conv2d"
  std::string_view module_path;  // of the module that called it: "net.stem.conv1", or ""
  Phase phase = Phase::kForward;
  std::string attributes;  // "{dim=1, keepdim=true}", or ""
  absl::InlinedVector<ValueView, 4> inputs, outputs;
};

// Calls `fn` with every operation, in the order in which they run.
void VisitOperations(const Graph& graph, absl::FunctionRef<void(const OpView& operation)> fn);

// "input", "state", "constant", "temp".
std::string_view NameOf(Buffer::Kind kind);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_VISIT_H_

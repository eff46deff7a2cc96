// Edits work on a copy and check it before it takes the graph's place.

#include "firn/autograd/graph/edit.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/internal/splice.h"
#include "firn/autograd/graph/passes/dead_code.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn {
namespace {

using internal::Replacing;
using internal::Splice;
using internal::Spliced;

absl::Status CheckId(const Graph& graph, ValueId id) {
  FIRN_RETURN_IF(id < 0 || static_cast<size_t>(id) >= graph.values.size(),
                 OutOfRange("there is no value ", id, ", only ", graph.values.size()));
  return absl::OkStatus();
}

absl::Status TakeIfSound(Graph next, Graph* graph) {
  FIRN_RETURN_IF_ERROR(next.Verify());
  *graph = std::move(next);
  return absl::OkStatus();
}

// Puts operations before operation `at`.
void Insert(Graph& graph, size_t at, std::vector<Instr> instrs) {
  graph.instrs.insert(graph.instrs.begin() + static_cast<std::ptrdiff_t>(at),
                      std::make_move_iterator(instrs.begin()),
                      std::make_move_iterator(instrs.end()));
}

// `fn` captured on zeros of the specs of an operation's arguments.
Captured CaptureOn(const Graph& graph, const Instr& instr, CaptureFn fn) {
  std::vector<Tensor> listed;
  for (ValueId id : instr.in) {
    if (id == kNoValue) continue;
    const TensorSpec& spec = graph.value(id).spec;
    listed.push_back(Zeros(spec.shape, spec.dtype, spec.device));
  }
  const auto with_absent = [&](absl::Span<const Tensor> given) {
    std::vector<Tensor> in;
    size_t next = 0;
    for (ValueId id : instr.in) in.push_back(id == kNoValue ? Tensor() : given[next++]);
    return fn(in);
  };
  return Capture(with_absent, listed);
}

// Refuses a graph that reads an input which is not in its list of inputs.
absl::Status CheckInputsListed(const Graph& graph) {
  std::vector<bool> listed(graph.buffers.size(), false);
  for (ValueId id : graph.inputs) listed[static_cast<size_t>(graph.value(id).buffer)] = true;
  const auto missing = [&](ValueId id) {
    return id != kNoValue && graph.buffer_of(id).kind == Buffer::Kind::kInput &&
           !listed[static_cast<size_t>(graph.value(id).buffer)];
  };
  for (const Instr& instr : graph.instrs) {
    for (ValueId id : instr.in) {
      FIRN_RETURN_IF(
          missing(id),
          InvalidArgument("the outputs need ", Describe(instr), ", which reads an input ",
                          graph.value(id).spec.ToString(), " that is not listed"));
    }
  }
  for (ValueId id : graph.outputs) {
    FIRN_RETURN_IF(missing(id),
                   InvalidArgument("an output is an input ", graph.value(id).spec.ToString(),
                                   " that is not listed"));
  }
  return absl::OkStatus();
}

absl::Status CheckResults(const Graph& graph, const Uses& uses, const Instr& instr,
                          const TensorList& given) {
  for (size_t i = 0; i < std::max(instr.out.size(), given.size()); ++i) {
    FIRN_RETURN_IF(
        i >= instr.out.size(),
        InvalidArgument(Describe(instr), " has ", instr.out.size(),
                        instr.out.size() == 1 ? " result" : " results", ", got ", given.size()));
    const ValueId id = instr.out[i];
    const bool read = !uses.readers(id).empty() || uses.leaves(id);
    FIRN_RETURN_IF(i >= given.size() && read,
                   InvalidArgument("result ", i, " of ", Describe(instr), " is read, got ",
                                   given.size(), given.size() == 1 ? " result" : " results"));
    if (i >= given.size()) continue;
    const TensorSpec &want = graph.value(id).spec, &got = given[i].spec();
    FIRN_RETURN_IF(!SameKind(want, got),
                   InvalidArgument("result ", i, " of ", Describe(instr), " is ", want.ToString(),
                                   ", got ", got.ToString()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReplaceOperation(Graph& graph, size_t at, CaptureFn fn) {
  FIRN_RETURN_IF(at >= graph.instrs.size(),
                 OutOfRange("there is no operation ", at, ", only ", graph.instrs.size()));
  Graph next = graph;
  const Instr old = next.instrs[at];
  const Captured captured = CaptureOn(next, old, fn);
  FIRN_RETURN_IF_ERROR(CheckResults(next, Uses(next), old, captured.outputs));
  std::vector<ValueId> arguments;
  std::copy_if(old.in.begin(), old.in.end(), std::back_inserter(arguments),
               [](ValueId id) { return id != kNoValue; });
  Replacing replacing(next);
  FIRN_ASSIGN_OR_RETURN(Spliced part, Splice(next, captured.graph, arguments));
  for (size_t i = 0; i < part.outputs.size(); ++i) {
    FIRN_ASSIGN_OR_RETURN(const ValueId id,
                          Replacing::Alike(next, part.outputs[i], old.out[i], &part.instrs));
    replacing.Add(old.out[i], id);
  }
  for (Instr& instr : part.instrs) {
    if (instr.path == nullptr) instr.path = old.path;
    instr.phase = old.phase;
  }
  FIRN_RETURN_IF_ERROR(replacing.Apply(next));
  next.instrs.erase(next.instrs.begin() + static_cast<std::ptrdiff_t>(at));
  Insert(next, at, std::move(part.instrs));
  DropUnusedValues(next);
  return TakeIfSound(std::move(next), &graph);
}

absl::Status RewireInput(Graph& graph, size_t input, const Graph& source, size_t output) {
  FIRN_RETURN_IF(input >= graph.inputs.size(),
                 OutOfRange("there is no input ", input, ", only ", graph.inputs.size()));
  FIRN_RETURN_IF(output >= source.outputs.size(),
                 OutOfRange("there is no output ", output, ", only ", source.outputs.size()));
  Graph next = graph;
  Replacing replacing(next);
  std::vector<ValueId> arguments;
  for (ValueId id : source.inputs) {
    Value v = source.value(id);
    next.buffers.push_back(source.buffer_of(id));
    v.buffer = static_cast<BufferId>(next.buffers.size() - 1);
    arguments.push_back(static_cast<ValueId>(next.values.size()));
    next.values.push_back(std::move(v));
  }
  FIRN_ASSIGN_OR_RETURN(Spliced part, Splice(next, source, arguments));
  const ValueId old = next.inputs[input];
  const TensorSpec want = next.value(old).spec, got = next.value(part.outputs[output]).spec;
  FIRN_RETURN_IF(!SameKind(want, got),
                 InvalidArgument("input ", input, " is ", want.ToString(), ", output ", output,
                                 " of the other graph is ", got.ToString()));
  FIRN_ASSIGN_OR_RETURN(const ValueId now,
                        Replacing::Alike(next, part.outputs[output], old, &part.instrs));
  replacing.Add(old, now);
  FIRN_RETURN_IF_ERROR(replacing.Apply(next));
  next.inputs.erase(next.inputs.begin() + static_cast<std::ptrdiff_t>(input));
  next.inputs.insert(next.inputs.end(), arguments.begin(), arguments.end());
  Insert(next, 0, std::move(part.instrs));
  DropUnusedValues(next);
  return TakeIfSound(std::move(next), &graph);
}

absl::Status AddOutput(Graph& graph, ValueId value) {
  FIRN_RETURN_IF_ERROR(CheckId(graph, value));
  const BufferId buffer = graph.value(value).buffer;
  FIRN_RETURN_IF(graph.buffers[static_cast<size_t>(buffer)].kind == Buffer::Kind::kTemp &&
                     Uses(graph).changed(buffer),
                 InvalidArgument("value ", value, " ", graph.value(value).spec.ToString(),
                                 " is changed in place: a result would be what it is at the end"));
  Graph next = graph;
  next.outputs.push_back(value);
  return TakeIfSound(std::move(next), &graph);
}

absl::StatusOr<Graph> ExtractGraph(const Graph& graph, absl::Span<const ValueId> inputs,
                                   absl::Span<const ValueId> outputs) {
  Graph next = graph;
  const Uses uses(graph);
  Replacing replacing(graph);
  std::vector<Instr> copies;
  std::vector<ValueId> given;
  for (ValueId id : inputs) {
    FIRN_RETURN_IF_ERROR(CheckId(graph, id));
    const bool known =
        std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end();
    if (known) {
      given.push_back(id);
      continue;
    }
    const TensorSpec old = graph.value(id).spec;
    const TensorSpec spec = TensorSpec::Contiguous(old.dtype, old.shape, old.device);
    next.buffers.push_back({Buffer::Kind::kInput, static_cast<int64_t>(spec.bytes()), spec.device});
    next.values.push_back({static_cast<BufferId>(next.buffers.size() - 1), 0, spec, {}});
    given.push_back(static_cast<ValueId>(next.values.size() - 1));
    ValueId now = given.back();
    if (uses.changed(graph.value(id).buffer) || old.layout.blocked()) {  // inputs are never written
      const ReorderAttrs attrs{old.layout.channel_block};
      FIRN_ASSIGN_OR_RETURN(Instr copy, MakeInstr(next, TheOp<"reorder">(), {now}, attrs));
      now = copy.out[0];
      copies.push_back(std::move(copy));
    }
    replacing.Add(id, now);
  }
  for (ValueId id : outputs) FIRN_RETURN_IF_ERROR(CheckId(graph, id));
  next.outputs.assign(outputs.begin(), outputs.end());
  next.gradients.clear();
  next.leaves.clear();
  FIRN_RETURN_IF_ERROR(replacing.Apply(next));
  next.inputs = std::move(given);
  Insert(next, 0, std::move(copies));
  KeepOnlyOutputs(next);
  FIRN_RETURN_IF_ERROR(CheckInputsListed(next));
  FIRN_RETURN_IF_ERROR(next.Verify());
  return next;
}

}  // namespace firn

// A packed weight is a constant of its own; the plain one goes if nothing else reads it. Calls that
// want the same weight in the same form share it: a step of a recurrence that was captured many
// times has its weights once.

#include "firn/autograd/graph/pack_parameters.h"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/kernel_call.h"
#include "firn/autograd/graph/passes/dead_code.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/storage.h"

namespace firn {
namespace {

bool SameMemory(const Tensor& a, const Tensor& b) {
  if (a.device() != Device() || b.device() != Device()) return false;
  const Storage &left = *a.impl()->storage, &right = *b.impl()->storage;
  return left.bytes() == right.bytes() && std::memcmp(left.data(), right.data(), left.bytes()) == 0;
}

// The packed forms of each plain weight.
class PackedConstants {
 public:
  explicit PackedConstants(Graph& graph) : graph_(graph) {}
  ValueId Add(ValueId plain, const Tensor& packed) {
    std::vector<ValueId>& forms = forms_[plain];
    for (const ValueId id : forms) {
      const Value& form = graph_.value(id);
      if (SameSpec(form.spec, packed.spec()) && SameMemory(form.bound, packed)) return id;
    }
    forms.push_back(AddConstant(graph_, packed));
    return forms.back();
  }

 private:
  Graph& graph_;
  absl::flat_hash_map<ValueId, std::vector<ValueId>> forms_;
};

}  // namespace

absl::StatusOr<PassReport> PackParameters(Graph& graph) {
  PassReport report{.pass = "pack_parameters"};
  PackedConstants constants(graph);
  for (Instr& instr : graph.instrs) {
    const std::optional<Packing>& packing = TraitsOf(*instr.op).packing;
    if (!packing) continue;
    const ValueId plain = instr.in[packing->input];
    const bool constant =
        plain != kNoValue && graph.buffer_of(plain).kind == Buffer::Kind::kConstant;
    if (!constant || !graph.value(plain).bound.defined()) continue;
    FIRN_ASSIGN_OR_RETURN(
        std::optional<PackedCall> packed,
        packing->pack(KernelCall(graph, instr).query(), *instr.kernel, graph.value(plain).bound));
    if (!packed) continue;
    report.Add(absl::StrCat(Describe(instr), ": ", graph.value(plain).spec.ToString()));
    instr.in[packing->input] = constants.Add(plain, packed->packed);
    instr.op = packed->call.op;
    instr.attrs = std::move(packed->call.attrs);
    FIRN_ASSIGN_OR_RETURN(const Prepared p, KernelCall(graph, instr).Prepare());
    instr.kernel = p.kernel;
  }
  if (report.changes != 0) DropUnusedValues(graph);
  return report;
}

}  // namespace firn

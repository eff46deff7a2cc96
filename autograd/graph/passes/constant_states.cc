// States become constants buffer by buffer: all tensors that lie in one storage move to its copy.

#include "firn/autograd/graph/passes/constant_states.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

absl::StatusOr<Tensor> CopyOf(const Storage& storage, const TensorSpec& bytes) {
  FIRN_ASSIGN_OR_RETURN(Tensor copy, AllocateTensor(bytes));
  FIRN_RETURN_IF_ERROR(CopyElements(bytes, static_cast<const char*>(storage.data()), copy.spec(),
                                    copy.impl()->data));
  return copy;
}

// By storage: the states in it that have become constants.
using Copied = absl::flat_hash_map<const Storage*, std::vector<ValueId>>;

// Runs use the copy: later changes of the leaf's requires_grad do not affect them, and its memory
// may be freed.
void DropChecks(Graph& graph, const Copied& copied) {
  std::erase_if(graph.leaves, [&](const LeafFlag& f) {
    const auto there = copied.find(f.leaf.impl()->storage.get());
    return there != copied.end() &&
           std::any_of(there->second.begin(), there->second.end(),
                       [&](ValueId id) { return SameSpec(f.leaf.spec(), graph.value(id).spec); });
  });
  std::erase_if(graph.switches, [&](const Switch& s) {
    return s.kept.defined() && copied.contains(s.kept.impl()->storage.get());
  });
}

}  // namespace

absl::StatusOr<PassReport> ConstantStates(Graph& graph) {
  PassReport report{.pass = "constant_states"};
  const Uses uses(graph);
  std::vector<Tensor> copies(graph.buffers.size());
  Copied copied;
  std::vector<bool> gradient(graph.buffers.size());  // checked before every run
  for (const GradientEffect& e : graph.gradients) {
    ForEachValue(e,
                 [&](ValueId id) { gradient[static_cast<size_t>(graph.value(id).buffer)] = true; });
  }
  for (size_t id = 0; id < graph.values.size(); ++id) {
    Value& v = graph.values[id];
    Buffer& buffer = graph.buffers[static_cast<size_t>(v.buffer)];
    Tensor& copy = copies[static_cast<size_t>(v.buffer)];
    if (!v.bound.defined() || !uses.writers(v.buffer).empty()) continue;
    if (gradient[static_cast<size_t>(v.buffer)]) continue;
    if (buffer.kind != Buffer::Kind::kState && !copy.defined()) continue;
    const TensorImpl& impl = *v.bound.impl();
    const Storage& storage = *impl.storage;
    FIRN_RETURN_IF(
        storage.parted() || impl.data - static_cast<const char*>(storage.data()) != v.offset,
        FailedPrecondition("constant_states: a state ", v.spec.ToString(),
                           " has got other memory since it was captured; capture again"));
    if (!copy.defined()) {
      const auto bytes = TensorSpec::Contiguous(
          DType::kU8, Shape({static_cast<int64_t>(storage.bytes())}), buffer.device);
      FIRN_ASSIGN_OR_RETURN(copy, CopyOf(storage, bytes));
      buffer.kind = Buffer::Kind::kConstant;
      const auto readers = uses.readers(static_cast<ValueId>(id));
      report.Add(absl::StrCat(v.spec.ToString(), readers.empty() ? "" : ": ",
                              readers.empty() ? "" : Describe(graph.instrs[readers[0]])));
    }
    copied[&storage].push_back(static_cast<ValueId>(id));
    v.bound = WrapStorage(copy.impl()->storage, copy.impl()->data + v.offset, v.spec);
  }
  DropChecks(graph, copied);
  return report;
}

}  // namespace firn

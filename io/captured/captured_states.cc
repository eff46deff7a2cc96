// A state is known by where its elements lie, and by shape and dtype where several lie there.
#include "firn/io/captured/captured_states.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/op.h"
#include "firn/tensor/pending.h"

namespace firn::io::internal {

CapturedNames::CapturedNames(const StateDict& names) {
  for (const StateDict::Entry& entry : names) {
    if (entry.second.defined()) by_place_[entry.second.impl()->data].push_back(&entry);
  }
}

std::string CapturedNames::NameOf(const Tensor& state) const {
  const auto at = by_place_.find(state.impl()->data);
  if (at == by_place_.end()) return "";
  for (const StateDict::Entry* entry : at->second) {
    if (entry->second.shape() == state.shape() && entry->second.dtype() == state.dtype()) {
      return entry->first;
    }
  }
  return "";
}

absl::Status CheckCaptured(const Value& value) {
  const Tensor& bound = value.bound;
  FIRN_RETURN_IF(!bound.defined() || IsPending(bound) || bound.dtype() != value.spec.dtype ||
                     bound.shape() != value.spec.shape,
                 FailedPrecondition("a state of the graph was ", value.spec.ToString(),
                                    " and is another one now; capture again"));
  return firn::inner::CheckHostRead(bound);
}

std::vector<bool> WrittenBuffers(const Graph& graph) {
  std::vector<bool> written(graph.buffers.size());
  for (const Instr& instr : graph.instrs) {
    for (size_t i = 0; i < instr.in.size(); ++i) {
      if (instr.in[i] != kNoValue && instr.op->writes(i) && !instr.op->random) {
        written[static_cast<size_t>(graph.value(instr.in[i]).buffer)] = true;
      }
    }
  }
  return written;
}

}  // namespace firn::io::internal

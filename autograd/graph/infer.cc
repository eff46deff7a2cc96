// Declarations and shape rules take tensors; a graph has only their specs, so tensors without
// elements stand in.

#include "firn/autograd/graph/infer.h"

#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/internal/apply_checks.h"
#include "firn/tensor/op.h"
#include "firn/tensor/storage.h"

namespace firn {

absl::StatusOr<Inferred> InferSpecs(const Graph& graph, const Instr& instr) {
  std::vector<Tensor> stand_ins(instr.in.size());
  const IntrusivePtr<Storage> storage = Storage::Borrow(nullptr, 0, Device(), nullptr);
  for (size_t i = 0; i < instr.in.size(); ++i) {
    if (instr.in[i] == kNoValue) continue;
    const TensorSpec& spec = graph.value(instr.in[i]).spec;
    stand_ins[i] = WrapStorage(storage, nullptr, spec);
  }
  const std::vector<TensorRef> in(stand_ins.begin(), stand_ins.end());
  Inferred inferred;
  inferred.specs.resize(instr.op->outputs.size());
  InferContext context(in, instr.attrs.ref(), absl::MakeSpan(inferred.specs));
  FIRN_RETURN_IF_ERROR(inner::internal::Validate(*instr.op, in, &context.device));
  FIRN_RETURN_IF_ERROR(instr.op->infer(context));
  inferred.view_offset = context.view_offset;
  return inferred;
}

}  // namespace firn

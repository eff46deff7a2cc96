// Which kernel runs a call, and in which layouts.

#include "firn/tensor/internal/kernel_choice.h"

#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "firn/device/context.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/order.h"

namespace firn::inner::internal {
namespace {

// Sets the layouts that `takes` asks for. Returns false when everything may stay as it is (the
// usual case) and the results are as inferred.
bool LayoutsTaken(Takes takes, const KernelQuery& q, LayoutRequest* want) {
  if (takes == Takes::kAny) return false;
  bool all_contiguous = true, same_shape = true;
  int32_t block = 0;                  // of the first blocked input
  const TensorSpec* first = nullptr;  // one element (`x * 2`) fits every layout and is not counted
  for (int i = 0; i < q.num_inputs(); ++i) {
    if (!q.has(i)) continue;
    const TensorSpec& s = q.in(i);
    all_contiguous &= s.layout.contiguous;
    if (block == 0) block = s.layout.channel_block;
    if (s.num_elements() == 1) continue;
    if (first == nullptr) first = &s;
    same_shape &= s.shape == first->shape;
  }
  if (all_contiguous || (takes != Takes::kContiguous && block == 0)) return false;
  // Where layouts are mixed, the row-major inputs are converted, because the next operation is
  // usually a convolution.
  const bool keep = takes == Takes::kElementwise && same_shape && first != nullptr &&
                    (q.num_outputs() == 0 || q.out().shape == first->shape);
  if (!keep) block = 0;
  want->out.assign(static_cast<size_t>(q.num_outputs()), block);
  want->in.clear();
  for (int i = 0; i < q.num_inputs(); ++i) {
    want->in.push_back(q.has(i) && q.in(i).num_elements() != 1 ? block : 0);
  }
  return true;
}

void MakeRoom(const KernelQuery& q, LayoutRequest* want) {
  want->in.assign(static_cast<size_t>(q.num_inputs()), 0);
  want->out.assign(static_cast<size_t>(q.num_outputs()), 0);
}

TensorSpec InBlocks(const TensorSpec& s, int32_t block) {
  return TensorSpec::Blocked(s.dtype, s.shape, s.device, block);
}

// The answer of `k` for the specs that operands have once they are arranged.
size_t WorkspaceOfArranged(const Kernel& k, const KernelQuery& q, const LayoutRequest& want) {
  absl::InlinedVector<TensorSpec, 6> arranged(static_cast<size_t>(q.num_inputs()));
  absl::InlinedVector<const TensorSpec*, 6> in;
  for (int i = 0; i < q.num_inputs(); ++i) {
    const auto at = static_cast<size_t>(i);
    const bool stays = !q.has(i) || Fits(k, q.in(i), want.in[at]);
    if (!stays) arranged[at] = InBlocks(q.in(i), want.in[at]);
    in.push_back(!q.has(i) ? nullptr : stays ? &q.in(i) : &arranged[at]);
  }
  absl::InlinedVector<TensorSpec, 2> out;
  for (int i = 0; i < q.num_outputs(); ++i) {
    const int32_t block = want.out[static_cast<size_t>(i)];
    out.push_back(block == 0 ? q.out(i) : InBlocks(q.out(i), block));
  }
  return k.workspace(KernelQuery(in, out, q.attrs_ref()));
}

// Errors: the reason why it does not take the call.
absl::Status TryKernel(const Kernel& k, const KernelQuery& q, Prepared* answer) {
  if (k.supports != nullptr) FIRN_RETURN_IF_ERROR(k.supports(q));
  return Ask(k, q, answer);
}

absl::Status NoKernel(const OpDef& op, const KernelQuery& q, Device device) {
  FIRN_RETURN_IF_ERROR(GetDeviceContext(device).status());
  std::string why;
  for (const Kernel& k : op.kernels) {
    if (k.device != device.type) continue;
    Prepared answer;
    absl::StrAppend(&why, why.empty() ? "" : "; ", std::string(k.name), ": ",
                    std::string(TryKernel(k, q, &answer).message()));
  }
  return Unimplemented("no kernel for ", device.ToString(), " takes this call (",
                       why.empty() ? "none is registered" : why, ")");
}

}  // namespace

absl::Status Ask(const Kernel& k, const KernelQuery& q, Prepared* answer) {
  answer->kernel = &k;
  answer->run = k.run;
  answer->workspace = 0;
  answer->state = nullptr;
  if (k.prepare != nullptr) {
    answer->as_is = false;
    MakeRoom(q, &answer->layouts);
    return k.prepare(q, *answer);
  }
  if (k.layouts != nullptr) {
    answer->as_is = false;
    MakeRoom(q, &answer->layouts);
    k.layouts(q, answer->layouts);
  } else {
    answer->as_is = !LayoutsTaken(k.takes, q, &answer->layouts);
  }
  if (k.workspace != nullptr) {
    answer->workspace = answer->as_is ? k.workspace(q) : WorkspaceOfArranged(k, q, answer->layouts);
  }
  return absl::OkStatus();
}

absl::Status Prepare(const OpDef& op, const KernelQuery& q, Device device, Prepared* answer) {
  for (const Kernel& k : op.kernels) {
    if (k.device == device.type && TryKernel(k, q, answer).ok()) return absl::OkStatus();
  }
  return NoKernel(op, q, device);
}

bool Fits(const Kernel& k, const TensorSpec& spec, int32_t block) {
  if (block < 0) return OrderOf(spec) == block;
  const bool strided_ok = k.takes != Takes::kContiguous;
  return (strided_ok && block == 0 && !spec.layout.blocked()) ||
         (spec.dense() && spec.layout.channel_block == block);
}

}  // namespace firn::inner::internal

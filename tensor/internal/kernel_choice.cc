// Which kernel runs a call, and in which layouts.

#include "tensor/internal/kernel_choice.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "device/context.h"
#include "device/status_macros.h"

namespace firn::inner::internal {
namespace {

absl::Status NoKernel(const OpDef& op, const KernelQuery& q, Device device) {
  FIRN_RETURN_IF_ERROR(GetDeviceContext(device).status());
  std::string why;
  for (const Kernel& k : op.kernels) {
    if (k.device != device.type) continue;
    const absl::Status s = k.supports == nullptr ? absl::OkStatus() : k.supports(q);
    absl::StrAppend(&why, why.empty() ? "" : "; ", std::string(k.name), ": ",
                    std::string(s.message()));
  }
  return Unimplemented("no kernel for ", device.ToString(), " takes this call (",
                       why.empty() ? "none is registered" : why, ")");
}

}  // namespace

absl::StatusOr<const Kernel*> SelectKernel(const OpDef& op, const KernelQuery& q, Device device) {
  for (const Kernel& k : op.kernels) {
    if (k.device == device.type && (k.supports == nullptr || k.supports(q).ok())) return &k;
  }
  return NoKernel(op, q, device);
}

bool AskLayouts(const Kernel& k, const KernelQuery& q, size_t num_outputs, LayoutRequest* want) {
  const size_t n = static_cast<size_t>(q.num_inputs());
  if (k.layouts != nullptr) {
    want->in.assign(n, 0);
    want->out.assign(num_outputs, 0);
    k.layouts(q, *want);
    return true;
  }
  if (k.takes == Takes::kAny) return false;
  bool all_contiguous = true, same_shape = true;
  int32_t block = 0;                  // of the first blocked input
  const TensorSpec* first = nullptr;  // one element (`x * 2`) fits every layout and is not counted
  for (size_t i = 0; i < n; ++i) {
    if (!q.has(static_cast<int>(i))) continue;
    const TensorSpec& s = q.in(static_cast<int>(i));
    all_contiguous &= s.layout.contiguous;
    if (block == 0) block = s.layout.channel_block;
    if (s.num_elements() == 1) continue;
    if (first == nullptr) first = &s;
    same_shape &= s.shape == first->shape;
  }
  if (all_contiguous || (k.takes != Takes::kContiguous && block == 0)) return false;
  // Where layouts are mixed the row-major side changes: what comes next is usually a convolution.
  const bool keep = k.takes == Takes::kElementwise && same_shape && first != nullptr &&
                    (num_outputs == 0 || q.out().shape == first->shape);
  if (!keep) block = 0;
  want->out.assign(num_outputs, block);
  for (size_t i = 0; i < n; ++i) {
    const int at = static_cast<int>(i);
    want->in.push_back(q.has(at) && q.in(at).num_elements() != 1 ? block : 0);
  }
  return true;
}

bool Fits(const Kernel& k, const TensorSpec& spec, int32_t block) {
  const bool strided_ok = k.takes != Takes::kContiguous;
  return (strided_ok && block == 0 && !spec.layout.blocked()) ||
         (spec.dense() && spec.layout.channel_block == block);
}

}  // namespace firn::inner::internal

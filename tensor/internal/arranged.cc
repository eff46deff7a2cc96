// Inputs stay where they are if the kernel takes their layout and the call writes into no tensor
// that shares their memory; all others are copied.
#include "firn/tensor/internal/arranged.h"

#include <algorithm>
#include <functional>

#include "firn/tensor/allocate.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/reorder.h"

namespace firn::inner::internal {
namespace {

// True if writing `a` could change what is read from `b`.
bool MayOverlap(const Tensor& a, const Tensor& b) {
  return !a.Is(b) && a.impl()->storage == b.impl()->storage;
}

// The storages that a call writes into, for a quick look before a thorough one: an optimizer's step
// has hundreds of inputs.
class Written {
 public:
  Written(const OpDef& op, absl::Span<const TensorRef> in) {
    for (size_t i = 0; i < in.size(); ++i) {
      if (op.input(i).inout && in[i].defined()) storages_.push_back(in[i]->impl()->storage.get());
    }
    std::sort(storages_.begin(), storages_.end(), std::less<>());
  }
  bool Contains(const Tensor& t) const {
    return std::binary_search(storages_.begin(), storages_.end(), t.impl()->storage.get(),
                              std::less<>());
  }

 private:
  absl::InlinedVector<const Storage*, 8> storages_;
};

absl::StatusOr<Tensor> ArrangeOne(const OpDef& op, absl::Span<const TensorRef> in, size_t i,
                                  const Prepared& p, const Written& written) {
  const ArgDecl& decl = op.input(i);
  const TensorSpec& spec = in[i].spec();
  const int32_t block = p.as_is ? 0 : p.layouts.in[i];
  const bool fits = p.as_is || Fits(*p.kernel, spec, block);
  if (decl.inout) {
    FIRN_RETURN_IF(!fits, InvalidArgument(decl.name,
                                          " is written in place and must be contiguous, "
                                          "got ",
                                          spec.ToString()));
    return Tensor();
  }
  if (!fits) return Reordered(*in[i], block);
  if (!written.Contains(*in[i])) return Tensor();
  for (size_t j = 0; j < in.size(); ++j) {  // x[1:] = x[:-1] reads a copy
    if (op.input(j).inout && in[j].defined() && MayOverlap(*in[j], *in[i])) {
      FIRN_ASSIGN_OR_RETURN(Tensor copy,
                            AllocateTensor(TensorSpec::Blocked(spec.dtype, spec.shape, spec.device,
                                                               spec.layout.channel_block)));
      FIRN_RETURN_IF_ERROR(CopyElements(spec, in[i]->impl()->data, copy.spec(), copy.impl()->data));
      return copy;
    }
  }
  return Tensor();
}

}  // namespace

absl::Status Arrange(const OpDef& op, const Prepared& p, absl::Span<const TensorRef> in,
                     Arranged* a) {
  const bool untouched = p.as_is && !op.any_inout;
  if (!untouched) a->owned.resize(in.size());
  const Written written(op, op.any_inout ? in : absl::Span<const TensorRef>());
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined()) {
      a->operands.push_back({});
      continue;
    }
    const Tensor* t = &*in[i];
    if (!untouched) {
      FIRN_ASSIGN_OR_RETURN(a->owned[i], ArrangeOne(op, in, i, p, written));
      if (a->owned[i].defined()) t = &a->owned[i];
    }
    a->operands.push_back({t->impl()->data, &t->spec()});
  }
  return absl::OkStatus();
}

}  // namespace firn::inner::internal

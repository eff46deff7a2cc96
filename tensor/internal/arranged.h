#ifndef FIRN_TENSOR_INTERNAL_ARRANGED_H_
#define FIRN_TENSOR_INTERNAL_ARRANGED_H_

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/op.h"
#include "firn/tensor/storage.h"
#include "firn/tensor/tensor.h"

// The memory of a call beside its results.
namespace firn::inner::internal {

// One call's arranged inputs: borrowed where they can stay, owned where reordered or copied.
struct Arranged {
  absl::InlinedVector<Tensor, 6> owned;  // undefined: the caller's tensor is used
  absl::InlinedVector<Operand, 8> operands;
};

// Arranges `in`, which must outlive `a`, as `p` says. Errors: InvalidArgument for an argument that
// is written in place and has a layout that the kernel does not take; ResourceExhausted.
absl::Status Arrange(const OpDef& op, const Prepared& p, absl::Span<const TensorRef> in,
                     Arranged* a);

// Scratch memory of one kernel run.
class Workspace {
 public:
  Workspace() = default;
  ~Workspace() {
    if (storage_) storage_.reset();
  }
  absl::Status Allocate(size_t bytes, Device device) {
    FIRN_ASSIGN_OR_RETURN(storage_, Storage::Allocate(bytes, device, AllocTag::kWorkspace));
    return absl::OkStatus();
  }
  void* data() const { return storage_ ? storage_->data() : nullptr; }

 private:
  IntrusivePtr<Storage> storage_;
};

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_ARRANGED_H_

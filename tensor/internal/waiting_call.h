#ifndef FIRN_TENSOR_INTERNAL_WAITING_CALL_H_
#define FIRN_TENSOR_INTERNAL_WAITING_CALL_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/device/device.h"
#include "firn/tensor/internal/arranged.h"
#include "firn/tensor/op.h"
#include "firn/tensor/tensor.h"

namespace firn::inner::internal {

// A call without results that a capture puts off (CaptureRecorder::PutOff): it is checked and its
// kernel chosen. Thread-compatible.
class WaitingCall {
 public:
  WaitingCall(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs, Prepared prepared);
  WaitingCall(const WaitingCall&) = delete;
  WaitingCall& operator=(const WaitingCall&) = delete;

  // Takes all memory that the run needs. Errors: those of Arrange.
  absl::Status TakeMemory(Device device);

  // Requires: TakeMemory worked. Errors: those of the kernel.
  absl::Status Run();

  // The handles by which it holds its arguments, one for each tensor. They are the call's own: if a
  // tensor gets another layout meanwhile, the call keeps the memory.
  const std::vector<Tensor>& held() const { return held_; }
  const OpDef& op() const { return op_; }

 private:
  const OpDef& op_;
  const Attrs attrs_;
  const Prepared prepared_;
  std::vector<Tensor> held_;
  std::vector<Tensor> in_;  // the same in the order of the arguments
  Arranged arranged_;
  Workspace workspace_;
};

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_WAITING_CALL_H_

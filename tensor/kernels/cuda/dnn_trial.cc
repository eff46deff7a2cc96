// Events around some calls in a row: around a single call, the time between two events would be as
// long as a small convolution.

#include "firn/tensor/kernels/cuda/dnn_trial.h"

#include <algorithm>

#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/storage.h"

namespace firn::cuda {
namespace {

constexpr int kCalls = 4;

absl::Status RuntimeStatus(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return absl::OkStatus();
  static_cast<void>(cudaGetLastError());  // what is only an error of this trial is not kept
  return Internal(call, ": ", cudaGetErrorString(code));
}

}  // namespace

absl::StatusOr<void*> DnnTrial::Take(int64_t bytes) {
  const auto room = static_cast<size_t>(std::max<int64_t>(bytes, 1)) + kWorkspaceAlignment;
  FIRN_ASSIGN_OR_RETURN(IntrusivePtr<Storage> storage,
                        Storage::Allocate(room, queue_.device, AllocTag::kWorkspace));
  FIRN_RETURN_IF_ERROR(
      RuntimeStatus(cudaMemsetAsync(storage->data(), 0, room, stream_), "cudaMemsetAsync"));
  const auto at = reinterpret_cast<uintptr_t>(storage->data()) + kWorkspaceAlignment - 1;
  memory_.push_back(std::move(storage));
  return reinterpret_cast<void*>(at / kWorkspaceAlignment * kWorkspaceAlignment);
}

absl::StatusOr<DnnTrial> DnnTrial::Make(Device device, const DnnConvCall& call, size_t workspace) {
  DnnTrial trial(device);
  FIRN_ASSIGN_OR_RETURN(void* const stream, StreamHandle(trial.queue_));
  trial.stream_ = static_cast<cudaStream_t>(stream);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  FIRN_RETURN_IF_ERROR(
      RuntimeStatus(cudaStreamIsCapturing(trial.stream_, &capture), "cudaStreamIsCapturing"));
  FIRN_RETURN_IF(capture != cudaStreamCaptureStatusNone,
                 FailedPrecondition("the stream is being recorded"));
  const ConvProblem& p = call.problem;
  const int64_t size = SizeOf(call.dtype);
  FIRN_ASSIGN_OR_RETURN(trial.operands_.x, trial.Take(p.batch * p.in * p.in_size.volume() * size));
  FIRN_ASSIGN_OR_RETURN(trial.operands_.weight,
                        trial.Take(p.out * p.in_per_group() * p.kernel.volume() * size));
  FIRN_ASSIGN_OR_RETURN(trial.operands_.y,
                        trial.Take(p.batch * p.out * p.out_size.volume() * size));
  FIRN_ASSIGN_OR_RETURN(trial.operands_.bias, trial.Take(p.out * size));
  FIRN_ASSIGN_OR_RETURN(trial.workspace_, trial.Take(static_cast<int64_t>(workspace)));
  for (Event* event : {&trial.start_, &trial.end_}) {
    cudaEvent_t made = nullptr;
    FIRN_RETURN_IF_ERROR(RuntimeStatus(cudaEventCreate(&made), "cudaEventCreate"));
    event->reset(made);
  }
  return trial;
}

absl::StatusOr<float> DnnTrial::Time(Call call) {
  FIRN_RETURN_IF_ERROR(RuntimeStatus(cudaEventRecord(start_.get(), stream_), "cudaEventRecord"));
  for (int i = 0; i < kCalls; ++i) {
    FIRN_RETURN_IF_ERROR(call(queue_, operands_, workspace_));
  }
  FIRN_RETURN_IF_ERROR(RuntimeStatus(cudaEventRecord(end_.get(), stream_), "cudaEventRecord"));
  FIRN_RETURN_IF_ERROR(RuntimeStatus(cudaEventSynchronize(end_.get()), "cudaEventSynchronize"));
  float milliseconds = 0;
  FIRN_RETURN_IF_ERROR(RuntimeStatus(cudaEventElapsedTime(&milliseconds, start_.get(), end_.get()),
                                     "cudaEventElapsedTime"));
  return milliseconds;
}

}  // namespace firn::cuda

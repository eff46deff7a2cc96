// A buffer is free when the event recorded behind its last copy is reached.
#include "firn/device/internal/cuda_staging.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "firn/device/internal/cuda_status.h"
#include "firn/device/status_macros.h"

namespace firn::inner::internal {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kBufferBytes = size_t{2} << 20;

}  // namespace

CudaStaging::~CudaStaging() {
  for (Buffer& buffer : buffers_) {
    if (buffer.busy) static_cast<void>(api_.SynchronizeEvent(device_, buffer.event));
    if (buffer.event != nullptr) static_cast<void>(api_.DestroyEvent(device_, buffer.event));
    if (buffer.data != nullptr) static_cast<void>(api_.FreePinned(buffer.data));
  }
}

absl::Status CudaStaging::Prepare(Buffer& buffer) {
  if (buffer.data == nullptr) {
    FIRN_RETURN_IF_ERROR(
        CudaStatus(api_, api_.MallocPinned(kBufferBytes, &buffer.data), "cudaMallocHost"));
  }
  if (buffer.event == nullptr) {
    FIRN_RETURN_IF_ERROR(
        CudaStatus(api_, api_.CreateEvent(device_, &buffer.event), "cudaEventCreate"));
  }
  if (buffer.busy) {
    FIRN_RETURN_IF_ERROR(
        CudaStatus(api_, api_.SynchronizeEvent(device_, buffer.event), "cudaEventSynchronize"));
    buffer.busy = false;
  }
  return absl::OkStatus();
}

absl::StatusOr<CudaStaging::Buffer*> CudaStaging::Next() {
  turn_ = (turn_ + 1) % buffers_.size();
  Buffer& buffer = buffers_[turn_];
  FIRN_RETURN_IF_ERROR(Prepare(buffer));
  buffer.used = 0;
  return &buffer;
}

absl::StatusOr<CudaStaging::Buffer*> CudaStaging::WithRoom(size_t bytes, void* stream) {
  Buffer& buffer = buffers_[turn_];
  if (buffer.data != nullptr && buffer.stream == stream && bytes <= kBufferBytes - buffer.used)
    return &buffer;
  return Next();
}

absl::Status CudaStaging::Record(Buffer& buffer, void* stream) {
  FIRN_RETURN_IF_ERROR(
      CudaStatus(api_, api_.RecordEvent(device_, buffer.event, stream), "cudaEventRecord"));
  buffer.busy = true;
  buffer.stream = stream;
  return absl::OkStatus();
}

absl::Status CudaStaging::ToDevice(void* to, const void* from, size_t bytes, void* stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t at = 0; at < bytes; at += kBufferBytes) {
    const size_t part = std::min(kBufferBytes, bytes - at);
    FIRN_ASSIGN_OR_RETURN(Buffer* const buffer, WithRoom(part, stream));
    char* const place = static_cast<char*>(buffer->data) + buffer->used;
    std::memcpy(place, static_cast<const char*>(from) + at, part);
    FIRN_RETURN_IF_ERROR(CudaStatus(
        api_,
        api_.Copy(device_, static_cast<char*>(to) + at, place, part, CudaCopy::kToDevice, stream),
        "cudaMemcpyAsync to the device"));
    buffer->used += (part + kAlignment - 1) / kAlignment * kAlignment;
    FIRN_RETURN_IF_ERROR(Record(*buffer, stream));
  }
  return absl::OkStatus();
}

// The device copies one part while the host takes the part before it from its buffer.
absl::Status CudaStaging::ToHost(void* to, const void* from, size_t bytes, void* stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Buffer* arriving = nullptr;
  size_t arriving_at = 0;
  for (size_t at = 0; at < bytes + kBufferBytes; at += kBufferBytes) {
    Buffer* queued = nullptr;
    if (at < bytes) {
      const size_t part = std::min(kBufferBytes, bytes - at);
      FIRN_ASSIGN_OR_RETURN(queued, Next());
      FIRN_RETURN_IF_ERROR(
          CudaStatus(api_,
                     api_.Copy(device_, queued->data, static_cast<const char*>(from) + at, part,
                               CudaCopy::kToHost, stream),
                     "cudaMemcpyAsync to the host"));
      FIRN_RETURN_IF_ERROR(Record(*queued, stream));
      queued->used = kBufferBytes;
    }
    if (arriving != nullptr) {
      FIRN_RETURN_IF_ERROR(Prepare(*arriving));
      std::memcpy(static_cast<char*>(to) + arriving_at, arriving->data,
                  std::min(kBufferBytes, bytes - arriving_at));
    }
    arriving = queued;
    arriving_at = at;
    if (queued == nullptr) break;
  }
  return absl::OkStatus();
}

}  // namespace firn::inner::internal

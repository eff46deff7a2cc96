// Streams and events are thin covers of the runtime's; what they add is errors that name both
// devices where two are mixed, and the count of synchronisations.
#include "firn/device/internal/cuda_context.h"

#include <atomic>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "firn/device/cuda.h"
#include "firn/device/environment.h"
#include "firn/device/internal/cuda_replay.h"
#include "firn/device/internal/cuda_status.h"
#include "firn/device/status_macros.h"

namespace firn {
namespace inner::internal {
namespace {

std::atomic<int64_t> synchronisations = 0;

void CountSynchronisation() { synchronisations.fetch_add(1, std::memory_order_relaxed); }

// Launches on it may be held back until they are needed in its queue: code that uses handle() for
// anything but a launch must use Ready().
class CudaStream final : public Stream {
 public:
  CudaStream(CudaApi& api, CudaFaults& faults, int device, void* handle, bool replays)
      : Stream(Device::Cuda(device), handle),
        api_(api),
        faults_(faults),
        device_(device),
        replay_(api, device, handle, replays) {}
  ~CudaStream() override {
    static_cast<void>(replay_.End());
    static_cast<void>(api_.DestroyStream(device_, handle()));
  }

  // Another device's event is waited for on the device, a CPU's here (it is always reached).
  absl::Status Wait(const Event& event) override;

  absl::Status Synchronize() override {
    FIRN_RETURN_IF_ERROR(replay_.End());
    CountSynchronisation();
    FIRN_RETURN_IF_ERROR(
        CudaStatus(api_, api_.SynchronizeStream(device_, handle()), "cudaStreamSynchronize"));
    return faults_.Take(device());
  }

  // The handle, with all launches so far in its queue.
  absl::StatusOr<void*> Ready() {
    FIRN_RETURN_IF_ERROR(replay_.End());
    return handle();
  }
  CudaReplay& replay() { return replay_; }

 private:
  CudaApi& api_;
  CudaFaults& faults_;
  const int device_;
  CudaReplay replay_;
};

// Requires: a stream of a CUDA device.
CudaStream& AsCuda(Stream& stream) { return static_cast<CudaStream&>(stream); }

class CudaEvent final : public Event {
 public:
  CudaEvent(CudaApi& api, CudaFaults& faults, int device, void* handle)
      : api_(api), faults_(faults), device_(device), handle_(handle) {}
  ~CudaEvent() override { static_cast<void>(api_.DestroyEvent(device_, handle_)); }

  absl::Status Record(Stream& stream) override {
    FIRN_RETURN_IF(
        stream.device() != Device::Cuda(device_),
        InvalidArgument("event: one of ", Device::Cuda(device_).ToString(),
                        " cannot be recorded on a stream of ", stream.device().ToString()));
    FIRN_ASSIGN_OR_RETURN(void* const queue, AsCuda(stream).Ready());
    FIRN_RETURN_IF_ERROR(
        CudaStatus(api_, api_.RecordEvent(device_, handle_, queue), "cudaEventRecord"));
    recorded_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Done() const override {
    bool done = true;
    if (!recorded_) return done;
    FIRN_RETURN_IF_ERROR(
        CudaStatus(api_, api_.QueryEvent(device_, handle_, &done), "cudaEventQuery"));
    return done;
  }

  absl::Status Synchronize() const override {
    if (!recorded_) return absl::OkStatus();
    CountSynchronisation();
    FIRN_RETURN_IF_ERROR(
        CudaStatus(api_, api_.SynchronizeEvent(device_, handle_), "cudaEventSynchronize"));
    return faults_.Take(Device::Cuda(device_));
  }

  absl::StatusOr<double> MillisecondsSince(const Event& start) const override {
    const auto* other = dynamic_cast<const CudaEvent*>(&start);
    FIRN_RETURN_IF(other == nullptr || other->device_ != device_,
                   InvalidArgument("event: the start is no event of ",
                                   Device::Cuda(device_).ToString(), ", as this one is"));
    FIRN_RETURN_IF(!recorded_ || !other->recorded_, FailedPrecondition("event: not recorded yet"));
    FIRN_ASSIGN_OR_RETURN(const bool done, Done());
    FIRN_RETURN_IF(!done, FailedPrecondition("event: not reached yet; Synchronize first"));
    float milliseconds = 0;
    FIRN_RETURN_IF_ERROR(CudaStatus(api_,
                                    api_.EventMilliseconds(other->handle_, handle_, &milliseconds),
                                    "cudaEventElapsedTime"));
    return static_cast<double>(milliseconds);
  }

  void* handle() const { return handle_; }
  bool recorded() const { return recorded_; }

 private:
  CudaApi& api_;
  CudaFaults& faults_;
  const int device_;
  void* const handle_;
  bool recorded_ = false;
};

absl::Status CudaStream::Wait(const Event& event) {
  const auto* cuda = dynamic_cast<const CudaEvent*>(&event);
  if (cuda == nullptr) return event.Synchronize();
  if (!cuda->recorded()) return absl::OkStatus();
  FIRN_RETURN_IF_ERROR(replay_.End());
  return CudaStatus(api_, api_.WaitEvent(device_, handle(), cuda->handle()), "cudaStreamWaitEvent");
}

class CudaGraph final : public Recording {
 public:
  CudaGraph(CudaApi& api, int device, void* handle) : api_(api), device_(device), handle_(handle) {}
  ~CudaGraph() override {
    if (handle_ != nullptr) static_cast<void>(api_.DestroyGraph(device_, handle_));
  }

  absl::Status Launch(Stream& stream) override {
    FIRN_RETURN_IF(stream.device() != Device::Cuda(device_),
                   InvalidArgument("recording: one of ", Device::Cuda(device_).ToString(),
                                   " cannot run on a stream of ", stream.device().ToString()));
    FIRN_ASSIGN_OR_RETURN(void* const queue, AsCuda(stream).Ready());
    return CudaStatus(api_, api_.LaunchGraph(device_, handle_, queue), "cudaGraphLaunch");
  }

 private:
  CudaApi& api_;
  const int device_;
  void* const handle_;
};

bool WaitsAfterLaunch() {
  static const bool waits = env::SyncAfterLaunch();
  return waits;
}

absl::StatusOr<std::unique_ptr<Stream>> MakeStream(CudaApi& api, CudaFaults& faults, int device,
                                                   bool replays) {
  void* handle = nullptr;
  FIRN_RETURN_IF_ERROR(CudaStatus(api, api.CreateStream(device, &handle), "cudaStreamCreate"));
  return std::make_unique<CudaStream>(api, faults, device, handle, replays);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaDeviceContext>> CudaDeviceContext::Make(CudaApi& api,
                                                                           int index) {
  auto faults = std::make_unique<CudaFaults>(api);
  FIRN_RETURN_IF_ERROR(faults->Allocate());
  const bool replays = env::CudaReplay() && !WaitsAfterLaunch();
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream, MakeStream(api, *faults, index, replays));
  return std::unique_ptr<CudaDeviceContext>(
      new CudaDeviceContext(api, index, std::move(faults), std::move(stream)));
}

// Queued work may use the memory that is freed now.
CudaDeviceContext::~CudaDeviceContext() {
  static_cast<void>(Handle());
  static_cast<void>(api_.SynchronizeDevice(index_));
}

absl::StatusOr<void*> CudaDeviceContext::Handle() { return AsCuda(*stream_).Ready(); }

absl::Status CudaDeviceContext::Synchronize() {
  FIRN_RETURN_IF_ERROR(Handle().status());
  CountSynchronisation();
  FIRN_RETURN_IF_ERROR(CudaStatus(api_, api_.SynchronizeDevice(index_), "cudaDeviceSynchronize"));
  return faults_->Take(device());
}

absl::StatusOr<std::unique_ptr<Event>> CudaDeviceContext::NewEvent() {
  void* handle = nullptr;
  FIRN_RETURN_IF_ERROR(CudaStatus(api_, api_.CreateEvent(index_, &handle), "cudaEventCreate"));
  return std::make_unique<CudaEvent>(api_, *faults_, index_, handle);
}

absl::StatusOr<std::unique_ptr<Stream>> CudaDeviceContext::NewStream() {
  return MakeStream(api_, *faults_, index_, false);
}

absl::StatusOr<std::unique_ptr<Recording>> CudaDeviceContext::Record(
    absl::FunctionRef<absl::Status()> queue) {
  CudaReplay& replay = AsCuda(*stream_).replay();
  FIRN_RETURN_IF_ERROR(replay.Pause());
  const absl::Cleanup resume = [&] { replay.Resume(); };
  FIRN_RETURN_IF_ERROR(
      CudaStatus(api_, api_.BeginRecording(index_, stream_->handle()), "cudaStreamBeginCapture"));
  recording_ = true;
  const absl::Cleanup ended = [&] { recording_ = false; };
  const absl::Status queued = queue();
  void* graph = nullptr;
  const int code = api_.EndRecording(index_, stream_->handle(), &graph);
  auto recording = std::make_unique<CudaGraph>(api_, index_, graph);
  FIRN_RETURN_IF_ERROR(queued);
  FIRN_RETURN_IF_ERROR(CudaStatus(api_, code, "cudaStreamEndCapture"));
  return recording;
}

absl::Status CudaDeviceContext::CopyFromHost(void* to, const void* from, size_t bytes) {
  FIRN_ASSIGN_OR_RETURN(void* const queue, Handle());
  return staging_.ToDevice(to, from, bytes, queue);
}

absl::Status CudaDeviceContext::CopyFromHost(void* to, const void* from, size_t bytes, Stream& on) {
  FIRN_RETURN_IF(on.device() != device(),
                 InvalidArgument("copy to ", device().ToString(), ": the stream is of ",
                                 on.device().ToString()));
  FIRN_ASSIGN_OR_RETURN(void* const queue, AsCuda(on).Ready());
  return side_staging_.ToDevice(to, from, bytes, queue);
}

absl::Status CudaDeviceContext::CopyToHost(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  FIRN_ASSIGN_OR_RETURN(void* const queue, Handle());
  CountSynchronisation();
  FIRN_RETURN_IF_ERROR(staging_.ToHost(to, from, bytes, queue));
  return faults_->Take(device());
}

// The other device's stream also waits until the memory is read, since that may be handed out
// again.
absl::Status CudaDeviceContext::CopyFromDevice(void* to, DeviceContext& source, const void* from,
                                               size_t bytes) {
  FIRN_RETURN_IF(!source.device().is_cuda(),
                 InvalidArgument("copy: ", source.device().ToString(), " is no cuda device"));
  if (bytes == 0) return absl::OkStatus();
  if (source.device() == device()) {
    FIRN_ASSIGN_OR_RETURN(void* const queue, Handle());
    return CudaStatus(api_, api_.Copy(index_, to, from, bytes, CudaCopy::kOnDevice, queue),
                      "cudaMemcpyAsync on the device");
  }
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Event> written, source.NewEvent());
  FIRN_RETURN_IF_ERROR(written->Record(source.stream()));
  FIRN_RETURN_IF_ERROR(stream_->Wait(*written));
  FIRN_RETURN_IF_ERROR(CudaStatus(
      api_, api_.CopyPeer(index_, to, source.device().index, from, bytes, stream_->handle()),
      "cudaMemcpyPeerAsync"));
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Event> read, NewEvent());
  FIRN_RETURN_IF_ERROR(read->Record(*stream_));
  return source.stream().Wait(*read);
}

absl::Status CudaDeviceContext::SetZero(void* data, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  FIRN_ASSIGN_OR_RETURN(void* const queue, Handle());
  return CudaStatus(api_, api_.SetZero(index_, data, bytes, queue), "cudaMemsetAsync");
}

absl::Status CudaDeviceContext::Launch(const CudaLaunch& launch, Stream& stream) {
  NoteLaunch(launch.name);
  FIRN_RETURN_IF_ERROR(AsCuda(stream).replay().Queue(launch));
  if (!WaitsAfterLaunch()) return absl::OkStatus();
  return CudaStatus(api_, api_.SynchronizeStream(index_, stream.handle()), launch.name);
}

}  // namespace inner::internal

int64_t CudaSynchronizations() {
  return internal::synchronisations.load(std::memory_order_relaxed);
}

}  // namespace firn

#ifndef FIRN_DEVICE_INTERNAL_CUDA_REPLAY_H_
#define FIRN_DEVICE_INTERNAL_CUDA_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "firn/device/internal/cuda_api.h"
#include "firn/device/internal/launch_trace.h"

namespace firn::inner::internal {

// Launches of a program that does the same again and again, such as a training step, go to the
// device as recorded graphs: one call to the driver for up to LaunchTrace::kMost kernels. That is
// how the dynamic mode keeps up with a frozen graph.
//
// The launches on a stream are cut into traces at waits, copies and orders between streams, and
// where a trace is full. A trace that came twice, argument for argument, is recorded. When the next
// launches are those of a recorded trace, they are held back until the last of them came, and the
// recording goes instead. If another launch comes first, those held back are launched one by one:
// a prediction that fails costs time and changes nothing.
//
// Results and their order are those of plain launches; the device only starts later, by at most a
// trace. Programs that never repeat themselves pass through after a while. Thread-safe.
class CudaReplay {
 public:
  CudaReplay(CudaApi& api, int device, void* stream, bool enabled)
      : api_(api), device_(device), stream_(stream), enabled_(enabled) {}
  ~CudaReplay();
  CudaReplay(const CudaReplay&) = delete;
  CudaReplay& operator=(const CudaReplay&) = delete;

  // Queues the launch, or holds it back. Errors: those of this launch, or of one held back.
  absl::Status Queue(const CudaLaunch& launch);

  // Queues the launches that are held back, for callers that need all launches so far in the
  // stream's queue. A trace ends here.
  absl::Status End();

  // Between these two, launches go straight to the stream: somebody else records it.
  absl::Status Pause();
  void Resume();

 private:
  struct Known {
    LaunchTrace trace;
    void* graph = nullptr;
    bool refused = false;  // it cannot be recorded
    int64_t last_used = 0;
    Known* next = nullptr;  // what followed the last time
  };

  static constexpr size_t kMostKnown = 256;
  static constexpr size_t kFewest = 4;  // launches that are worth a recording
  // After so many new traces without a known one, launches pass through for a while.
  static constexpr int64_t kPatience = 2 * kMostKnown;
  static constexpr int64_t kPassing = 1 << 15;

  absl::Status Launch(const CudaLaunch& launch);
  Known* Starting(const CudaLaunch& launch) const;
  Known* Continuing(const CudaLaunch& launch) const;
  Known* EndingHere() const;
  absl::Status Follow(Known* known, const CudaLaunch& launch);
  absl::Status Complete();
  absl::Status LeaveTrack();
  absl::Status LaunchHeld();
  absl::Status BeginNew(const CudaLaunch& launch);
  void KeepNew();
  absl::Status Record(Known& known);
  void Forget(size_t at);

  CudaApi& api_;
  const int device_;
  void* const stream_;
  const bool enabled_;

  std::mutex mutex_;  // guards everything below
  std::vector<std::unique_ptr<Known>> known_;
  // The known trace that is followed, or null. `at_` of its launches came; `holding_` says whether
  // they are held back.
  Known* track_ = nullptr;
  size_t at_ = 0;
  bool holding_ = false;
  LaunchTrace new_;        // not on a track: what came since the last cut
  Known* last_ = nullptr;  // the trace before
  int64_t clock_ = 0, misses_ = 0, passing_ = 0;
  int paused_ = 0;
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_CUDA_REPLAY_H_

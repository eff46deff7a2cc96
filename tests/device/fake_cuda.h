#ifndef FIRN_TESTS_DEVICE_FAKE_CUDA_H_
#define FIRN_TESTS_DEVICE_FAKE_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "firn/device/internal/cuda_api.h"

namespace firn {

// A CUDA runtime for tests, without a GPU: device memory is host memory full of NaN, and kernels
// run as their on_host functions.
//
// Work is only queued until something waits for it, and then no stream runs further than it must:
// code that forgets to wait, or to order two streams, reads what is not there yet. Copies refuse
// memory that is not of the kind they were promised (a device's, pinned). Thread-safe.
//
// A recording spans streams as a CUDA graph does: one that waits for an event of a recorded stream
// is recorded from then on, and must be joined again by an event before recording ends. A launch
// keeps the order of each recorded stream and of its events, and no other.
class FakeCuda final : public inner::internal::CudaApi {
 public:
  static constexpr int kOutOfMemory = 2, kInvalidValue = 1, kIllegalAddress = 700;
  static constexpr int kUnjoined = 904, kIsolation = 905, kCapturedEvent = 907;
  // For FailCall: the call does nothing, and says that it did.
  static constexpr int kDropped = -1;

  // When work runs that is not on a device's first stream: when something waits for it, or as soon
  // as the events allow. Correct code works with both.
  enum class Others { kLate, kEarly };
  void set_others(Others others);

  explicit FakeCuda(int devices = 1, size_t bytes_per_device = size_t{1} << 30);
  ~FakeCuda() override;

  // Makes the n-th call from now (1 is the next) of a method, by name ("Malloc"), return `code` and
  // do nothing.
  void FailCall(const std::string& method, int n, int code);
  // Calls of a method so far.
  int calls(const std::string& method) const;
  // Bytes of device memory taken and not given back; pinned likewise.
  size_t device_bytes(int device = 0) const;
  size_t pinned_bytes() const;
  int live_events() const;
  // Pieces of work that were queued and are not done.
  int pending() const;

  // Sets the result of CompileKernel for a source: a host function that does a whole launch's work.
  using HostKernel = void (*)(const void* argument);
  void SetCompiler(std::function<HostKernel(const inner::internal::CudaSource&)> compiler);

  // Queues work that ends when other devices have come to theirs: once the stream has come to it,
  // `meet` is called until it returns true. A wait for it waits for other threads, too; meanwhile
  // the work that other devices have queued goes on. In a recording it is copied for each launch.
  int EnqueueMeeting(int device, void* stream, std::function<bool()> meet);
  // Whether the bytes at `data` are memory of the device.
  bool Owns(int device, const void* data, size_t bytes) const;
  int DeviceOf(void* stream) const;
  // Whether work queued on the stream is recorded now.
  bool IsRecorded(void* stream) const;
  // Whether the calling thread records on a stream of the device.
  bool RecordsHere(int device) const;
  // Recordings of a device that have meetings in them and are not destroyed.
  int graphs_that_meet(int device) const;

  int CountDevices(int* count) override;
  int DescribeDevice(int device, std::string* description) override;
  int Malloc(int device, size_t bytes, void** data) override;
  int Free(int device, void* data) override;
  int MallocPinned(size_t bytes, void** data) override;
  int FreePinned(void* data) override;
  int CreateStream(int device, void** stream) override;
  int DestroyStream(int device, void* stream) override;
  int SynchronizeStream(int device, void* stream) override;
  int SynchronizeDevice(int device) override;
  int CreateEvent(int device, void** event) override;
  int DestroyEvent(int device, void* event) override;
  int RecordEvent(int device, void* event, void* stream) override;
  int QueryEvent(int device, void* event, bool* done) override;
  int SynchronizeEvent(int device, void* event) override;
  int EventMilliseconds(void* start, void* end, float* milliseconds) override;
  int WaitEvent(int device, void* stream, void* event) override;
  int Copy(int device, void* to, const void* from, size_t bytes, inner::internal::CudaCopy kind,
           void* stream) override;
  int SetZero(int device, void* data, size_t bytes, void* stream) override;
  int CopyPeer(int to_device, void* to, int from_device, const void* from, size_t bytes,
               void* stream) override;
  int Launch(int device, const inner::internal::CudaLaunch& launch, void* stream) override;
  int BeginRecording(int device, void* stream) override;
  int EndRecording(int device, void* stream, void** graph) override;
  int LaunchGraph(int device, void* graph, void* stream) override;
  int DestroyGraph(int device, void* graph) override;
  std::string Explain(int code) const override;
  inner::internal::CudaFailure Classify(int code) const override;
  bool has_libraries() const override { return false; }
  // Without a compiler nothing is compiled, and rows run step by step.
  int CompileKernel(int device, const inner::internal::CudaSource& source, const char* name,
                    const void** kernel, std::string* log) override;

 private:
  struct Stream;
  struct Recorded;
  // One recording of an event: where it stands, and whether that was reached.
  struct Point {
    Stream* stream;
    bool reached = false;
    std::shared_ptr<Recorded> in = nullptr;  // for a recorded stream: its recording
    size_t lane = 0, at = 0;
  };
  struct Event {
    int device;
    std::shared_ptr<Point> point;
  };
  struct Work {
    std::function<void()> run;             // null: none
    std::shared_ptr<Point> after;          // not before this is reached
    std::shared_ptr<Point> reaches;        // is reached then
    std::function<bool()> meet = nullptr;  // not before this gives true
  };
  using Lanes = std::vector<std::vector<Work>>;  // by stream
  struct Recorded {
    Lanes lanes;  // the first lane is that of the stream which began
    std::thread::id by = std::this_thread::get_id();
    bool ended = false;
  };
  struct Graph {
    int device;
    Lanes lanes;
  };
  struct Stream {
    int device;
    bool first = false;      // of its device
    bool of_launch = false;  // runs a lane of one launch of a graph, and goes when it has
    std::deque<Work> queue = {};
    std::shared_ptr<Recorded> recording = nullptr;  // where work goes meanwhile
    size_t lane = 0;
  };

  // The code injected for this call, or 0.
  int Called(const std::string& method);
  bool OnDevice(int device, const void* data, size_t bytes) const;
  bool Pinned(const void* data, size_t bytes) const;
  void Enqueue(void* stream, Work work);
  void RunUntil(const std::shared_ptr<Point>& point);
  void Drain(Stream& stream);
  bool Step(Stream& stream);
  void WaitForOthers(int device);
  void DrainAll(int device);
  void RunOthers();
  static bool Joined(const Lanes& lanes);

  mutable std::recursive_mutex mutex_;
  const int devices_;
  const size_t capacity_;
  Others others_ = Others::kLate;
  std::vector<std::map<const char*, size_t>> memory_;  // by device: start -> bytes
  std::map<const char*, size_t> pinned_;
  std::set<std::unique_ptr<Stream>> streams_;
  std::set<std::unique_ptr<Event>> events_;
  std::set<std::unique_ptr<Graph>> graphs_;
  std::function<HostKernel(const inner::internal::CudaSource&)> compiler_;
  std::map<std::string, int> calls_;
  std::map<std::string, std::map<int, int>> failures_;  // method -> number of the call -> code
};

}  // namespace firn

#endif  // FIRN_TESTS_DEVICE_FAKE_CUDA_H_

#ifndef FIRN_DEVICE_INTERNAL_CUDA_API_H_
#define FIRN_DEVICE_INTERNAL_CUDA_API_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"

namespace firn::inner::internal {

struct CudaSource;  // device/internal/nvrtc.h

// A kernel launch with one argument, passed by value.
struct CudaLaunch {
  const char* name;    // for error messages
  const void* kernel;  // the __global__ function
  unsigned blocks;
  unsigned threads;  // per block
  size_t shared_bytes;
  const void* argument;
  size_t argument_bytes;
  // Computes on the host what one whole launch computes, for a stand-in without a device.
  void (*on_host)(const void* argument);
  // Instead of a kernel, a call to a library that queues work on the stream (a cudaStream_t).
  absl::Status (*call)(const void* argument, void* stream) = nullptr;
};

enum class CudaCopy { kToDevice, kToHost, kOnDevice };

// How an error code is handled.
enum class CudaFailure {
  kOutOfMemory,
  kSticky,  // the device's context is lost: every later call fails too
  kOther,
};

// The calls to the CUDA runtime that Firn makes, so that a stand-in without a GPU can answer them
// (tests/device/fake_cuda.h). Each returns 0 or an error code. Streams and events are the runtime's
// own handles. Thread-safe, as the runtime is.
class CudaApi {
 public:
  virtual ~CudaApi() = default;

  virtual int CountDevices(int* count) = 0;
  // "NVIDIA H100 80GB HBM3, 79.2 GiB, compute capability 9.0".
  virtual int DescribeDevice(int device, std::string* description) = 0;
  virtual int Malloc(int device, size_t bytes, void** data) = 0;
  virtual int Free(int device, void* data) = 0;
  virtual int MallocPinned(size_t bytes, void** data) = 0;
  virtual int FreePinned(void* data) = 0;

  virtual int CreateStream(int device, void** stream) = 0;
  virtual int DestroyStream(int device, void* stream) = 0;
  virtual int SynchronizeStream(int device, void* stream) = 0;
  virtual int SynchronizeDevice(int device) = 0;

  virtual int CreateEvent(int device, void** event) = 0;
  virtual int DestroyEvent(int device, void* event) = 0;
  virtual int RecordEvent(int device, void* event, void* stream) = 0;
  virtual int QueryEvent(int device, void* event, bool* done) = 0;
  virtual int SynchronizeEvent(int device, void* event) = 0;
  virtual int EventMilliseconds(void* start, void* end, float* milliseconds) = 0;
  virtual int WaitEvent(int device, void* stream, void* event) = 0;

  // Queued on the stream. Host memory must be pinned and stay as it is until the copy is done.
  virtual int Copy(int device, void* to, const void* from, size_t bytes, CudaCopy kind,
                   void* stream) = 0;
  virtual int SetZero(int device, void* data, size_t bytes, void* stream) = 0;
  virtual int CopyPeer(int to_device, void* to, int from_device, const void* from, size_t bytes,
                       void* stream) = 0;
  virtual int Launch(int device, const CudaLaunch& launch, void* stream) = 0;

  // Between the two calls, work queued on the stream is recorded and not done.
  virtual int BeginRecording(int device, void* stream) = 0;
  // Recording ends also when it failed; then *graph stays null.
  virtual int EndRecording(int device, void* stream, void** graph) = 0;
  virtual int LaunchGraph(int device, void* graph, void* stream) = 0;
  virtual int DestroyGraph(int device, void* graph) = 0;

  // "cudaErrorInvalidValue: invalid argument".
  virtual std::string Explain(int code) const = 0;
  virtual CudaFailure Classify(int code) const = 0;

  // False for a stand-in, which has neither cuBLAS nor cuDNN.
  virtual bool has_libraries() const = 0;

  // Compiles `source` for a device and gives its kernel `name`, to be launched like others for as
  // long as the process lives. *log gets the error and the compiler's messages. On a stand-in,
  // which has no compiler, *kernel stays null.
  virtual int CompileKernel(int device, const CudaSource& source, const char* name,
                            const void** kernel, std::string* log) = 0;
};

// The runtime of this process, or null with the reason, when this build or machine has none.
CudaApi* FindCudaRuntime(std::string* reason);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_CUDA_API_H_

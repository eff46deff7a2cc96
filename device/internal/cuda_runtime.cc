// The CUDA runtime itself. Each call first makes its device the thread's current one.
#include <cuda_runtime.h>

#include <string>

#include "absl/strings/str_format.h"
#include "firn/device/internal/cuda_api.h"
#include "firn/device/internal/nvrtc.h"

namespace firn::inner::internal {
namespace {

cudaStream_t Stream(void* handle) { return static_cast<cudaStream_t>(handle); }
cudaEvent_t Event(void* handle) { return static_cast<cudaEvent_t>(handle); }

class Runtime final : public CudaApi {
 public:
  int CountDevices(int* count) override { return cudaGetDeviceCount(count); }
  int DescribeDevice(int device, std::string* description) override {
    cudaDeviceProp p;
    const cudaError_t code = cudaGetDeviceProperties(&p, device);
    if (code != cudaSuccess) return code;
    const double memory = static_cast<double>(p.totalGlobalMem) / (1 << 30);
    *description =
        absl::StrFormat("%s, %.1f GiB, compute capability %d.%d", p.name, memory, p.major, p.minor);
    return 0;
  }

  int Malloc(int device, size_t bytes, void** data) override {
    return On(device, [&] { return cudaMalloc(data, bytes); });
  }
  int Free(int device, void* data) override {
    return On(device, [&] { return cudaFree(data); });
  }
  int MallocPinned(size_t bytes, void** data) override {
    return cudaHostAlloc(data, bytes, cudaHostAllocPortable);
  }
  int FreePinned(void* data) override { return cudaFreeHost(data); }

  int CreateStream(int device, void** stream) override {
    return On(device, [&] {
      return cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t*>(stream),
                                       cudaStreamNonBlocking);
    });
  }
  int DestroyStream(int device, void* stream) override {
    return On(device, [&] { return cudaStreamDestroy(Stream(stream)); });
  }
  int SynchronizeStream(int device, void* stream) override {
    return On(device, [&] { return cudaStreamSynchronize(Stream(stream)); });
  }
  int SynchronizeDevice(int device) override {
    return On(device, [&] { return cudaDeviceSynchronize(); });
  }

  int CreateEvent(int device, void** event) override {
    return On(device, [&] { return cudaEventCreate(reinterpret_cast<cudaEvent_t*>(event)); });
  }
  int DestroyEvent(int device, void* event) override {
    return On(device, [&] { return cudaEventDestroy(Event(event)); });
  }
  int RecordEvent(int device, void* event, void* stream) override {
    return On(device, [&] { return cudaEventRecord(Event(event), Stream(stream)); });
  }
  int QueryEvent(int device, void* event, bool* done) override {
    return On(device, [&] {
      const cudaError_t code = cudaEventQuery(Event(event));
      *done = code != cudaErrorNotReady;
      return *done ? code : cudaSuccess;
    });
  }
  int SynchronizeEvent(int device, void* event) override {
    return On(device, [&] { return cudaEventSynchronize(Event(event)); });
  }
  int EventMilliseconds(void* start, void* end, float* milliseconds) override {
    return cudaEventElapsedTime(milliseconds, Event(start), Event(end));
  }
  int WaitEvent(int device, void* stream, void* event) override {
    return On(device, [&] { return cudaStreamWaitEvent(Stream(stream), Event(event), 0); });
  }

  int Copy(int device, void* to, const void* from, size_t bytes, CudaCopy kind,
           void* stream) override {
    const cudaMemcpyKind direction = kind == CudaCopy::kToDevice ? cudaMemcpyHostToDevice
                                     : kind == CudaCopy::kToHost ? cudaMemcpyDeviceToHost
                                                                 : cudaMemcpyDeviceToDevice;
    return On(device, [&] { return cudaMemcpyAsync(to, from, bytes, direction, Stream(stream)); });
  }
  int SetZero(int device, void* data, size_t bytes, void* stream) override {
    return On(device, [&] { return cudaMemsetAsync(data, 0, bytes, Stream(stream)); });
  }
  int CopyPeer(int to_device, void* to, int from_device, const void* from, size_t bytes,
               void* stream) override {
    return On(to_device, [&] {
      return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, Stream(stream));
    });
  }
  int Launch(int device, const CudaLaunch& launch, void* stream) override {
    return On(device, [&] {
      void* arguments[] = {const_cast<void*>(launch.argument)};
      return cudaLaunchKernel(launch.kernel, dim3(launch.blocks), dim3(launch.threads), arguments,
                              launch.shared_bytes, Stream(stream));
    });
  }

  int BeginRecording(int device, void* stream) override {
    return On(device, [&] {
      return cudaStreamBeginCapture(Stream(stream), cudaStreamCaptureModeThreadLocal);
    });
  }
  int EndRecording(int device, void* stream, void** graph) override {
    return On(device, [&] {
      cudaGraph_t recorded = nullptr;
      cudaError_t code = cudaStreamEndCapture(Stream(stream), &recorded);
      if (code != cudaSuccess) return code;
      code = cudaGraphInstantiateWithFlags(reinterpret_cast<cudaGraphExec_t*>(graph), recorded, 0);
      static_cast<void>(cudaGraphDestroy(recorded));
      return code;
    });
  }
  int LaunchGraph(int device, void* graph, void* stream) override {
    return On(device,
              [&] { return cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), Stream(stream)); });
  }
  int DestroyGraph(int device, void* graph) override {
    return On(device, [&] { return cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)); });
  }

  std::string Explain(int code) const override {
    const auto error = static_cast<cudaError_t>(code);
    std::string text = std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
    if (error == cudaErrorInsufficientDriver) text += Versions();
    return text;
  }

  CudaFailure Classify(int code) const override {
    switch (static_cast<cudaError_t>(code)) {
      case cudaErrorMemoryAllocation:
        return CudaFailure::kOutOfMemory;
      case cudaErrorIllegalAddress:
      case cudaErrorIllegalInstruction:
      case cudaErrorMisalignedAddress:
      case cudaErrorInvalidAddressSpace:
      case cudaErrorInvalidPc:
      case cudaErrorHardwareStackError:
      case cudaErrorLaunchFailure:
      case cudaErrorLaunchTimeout:
      case cudaErrorAssert:
      case cudaErrorECCUncorrectable:
      case cudaErrorNvlinkUncorrectable:
        return CudaFailure::kSticky;
      default:
        return CudaFailure::kOther;
    }
  }

  bool has_libraries() const override { return true; }

#if CUDART_VERSION < 12080  // which has no cudaLibraryLoadData
  int CompileKernel(int, const CudaSource&, const char*, const void**, std::string* log) override {
    *log = "needs a build with CUDA 12.8 or later, this is one with " + Version(CUDART_VERSION);
    return cudaErrorNotSupported;
  }

 private:
#else
  int CompileKernel(int device, const CudaSource& source, const char* name, const void** kernel,
                    std::string* log) override {
    return On(device, [&] {
      int major = 0, minor = 0;
      cudaError_t code = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      if (code == cudaSuccess) {
        code = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
      }
      std::string binary;
      if (code == cudaSuccess) {
        *log = CompileCuda(source, 10 * major + minor, CUDART_VERSION / 1000, &binary);
        code = log->empty() ? Load(binary, name, kernel) : cudaErrorInvalidSource;
      }
      if (log->empty() && code != cudaSuccess) *log = Explain(code);
      return code;
    });
  }

 private:
  // The library stays loaded: its kernel may be part of recordings.
  static cudaError_t Load(const std::string& binary, const char* name, const void** kernel) {
    cudaLibrary_t library = nullptr;
    cudaError_t code =
        cudaLibraryLoadData(&library, binary.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    cudaKernel_t found = nullptr;
    if (code == cudaSuccess) code = cudaLibraryGetKernel(&found, library, name);
    *kernel = found;
    return code;
  }
#endif

  // Clears the error that was returned, so that it does not show up in a later, innocent call.
  template <class F>
  static int On(int device, const F& call) {
    cudaError_t code = cudaSetDevice(device);
    if (code == cudaSuccess) code = call();
    if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
    return code;
  }

  static std::string Versions() {
    int runtime = 0, driver = 0;
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    static_cast<void>(cudaDriverGetVersion(&driver));
    if (driver == 0) return " (no driver found; this build needs one for " + Version(runtime) + ")";
    return " (the driver knows " + Version(driver) + ", this build needs " + Version(runtime) + ")";
  }
  static std::string Version(int number) {
    return "CUDA " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  }
};

}  // namespace

CudaApi* FindCudaRuntime(std::string*) {
  static CudaApi* const runtime = new Runtime;  // never destroyed: streams outlive main
  return runtime;
}

}  // namespace firn::inner::internal

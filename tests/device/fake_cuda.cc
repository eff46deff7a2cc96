// Memory, copies, kernels and errors. Every block is known by its start and its size, against which
// copies are checked. What is queued runs in fake_cuda_streams.cc.
#include "tests/device/fake_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/device/fake_cuda_call.h"

namespace firn {
namespace {

constexpr size_t kAlignment = 512;

bool Inside(const std::map<const char*, size_t>& blocks, const void* data, size_t bytes) {
  const char* const begin = static_cast<const char*>(data);
  auto block = blocks.upper_bound(begin);
  if (block == blocks.begin()) return false;
  --block;
  return begin + bytes <= block->first + block->second;
}

size_t Sum(const std::map<const char*, size_t>& blocks) {
  size_t sum = 0;
  for (const auto& [data, bytes] : blocks) sum += bytes;
  return sum;
}

void* NewBlock(std::map<const char*, size_t>& blocks, size_t bytes) {
  void* const data =
      std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  std::memset(data, 0xFF, bytes);  // NaN
  blocks[static_cast<const char*>(data)] = bytes;
  return data;
}

}  // namespace

FakeCuda::FakeCuda(int devices, size_t bytes_per_device)
    : devices_(devices), capacity_(bytes_per_device), memory_(static_cast<size_t>(devices)) {}

FakeCuda::~FakeCuda() {
  for (const auto& blocks : memory_) {
    for (const auto& [data, bytes] : blocks) std::free(const_cast<char*>(data));
  }
  for (const auto& [data, bytes] : pinned_) std::free(const_cast<char*>(data));
}

int FakeCuda::Called(const std::string& method) {
  const int n = ++calls_[method];
  const auto failures = failures_.find(method);
  if (failures == failures_.end()) return 0;
  const auto code = failures->second.find(n);
  return code == failures->second.end() ? 0 : code->second;
}

void FakeCuda::FailCall(const std::string& method, int n, int code) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  failures_[method][calls_[method] + n] = code;
}

void FakeCuda::set_others(Others others) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  others_ = others;
  RunOthers();
}

int FakeCuda::calls(const std::string& method) const {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  const auto at = calls_.find(method);
  return at == calls_.end() ? 0 : at->second;
}

size_t FakeCuda::device_bytes(int device) const {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  return Sum(memory_[static_cast<size_t>(device)]);
}

size_t FakeCuda::pinned_bytes() const {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  return Sum(pinned_);
}

int FakeCuda::live_events() const {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  return static_cast<int>(events_.size());
}

int FakeCuda::pending() const {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  int count = 0;
  for (const auto& stream : streams_) {
    for (const Work& work : stream->queue) {
      count += work.run != nullptr || work.meet != nullptr ? 1 : 0;
    }
  }
  return count;
}

bool FakeCuda::OnDevice(int device, const void* data, size_t bytes) const {
  return Inside(memory_[static_cast<size_t>(device)], data, bytes);
}

bool FakeCuda::Owns(int device, const void* data, size_t bytes) const {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  return OnDevice(device, data, bytes);
}

bool FakeCuda::Pinned(const void* data, size_t bytes) const { return Inside(pinned_, data, bytes); }

int FakeCuda::CountDevices(int* count) {
  FIRN_FAKE_CALL_();
  *count = devices_;
  return 0;
}

int FakeCuda::DescribeDevice(int, std::string* description) {
  FIRN_FAKE_CALL_();
  *description = "a stand-in";
  return 0;
}

int FakeCuda::Malloc(int device, size_t bytes, void** data) {
  FIRN_FAKE_CALL_();
  auto& blocks = memory_[static_cast<size_t>(device)];
  if (Sum(blocks) + bytes > capacity_) return kOutOfMemory;
  *data = NewBlock(blocks, bytes);
  return 0;
}

int FakeCuda::Free(int device, void* data) {
  FIRN_FAKE_CALL_();
  static_cast<void>(Called("SynchronizeDevice"));  // as cudaFree does
  DrainAll(device);
  if (memory_[static_cast<size_t>(device)].erase(static_cast<char*>(data)) == 0) {
    return kInvalidValue;
  }
  std::free(data);
  return 0;
}

int FakeCuda::MallocPinned(size_t bytes, void** data) {
  FIRN_FAKE_CALL_();
  *data = NewBlock(pinned_, bytes);
  return 0;
}

int FakeCuda::FreePinned(void* data) {
  FIRN_FAKE_CALL_();
  if (pinned_.erase(static_cast<char*>(data)) == 0) return kInvalidValue;
  std::free(data);
  return 0;
}

int FakeCuda::Copy(int device, void* to, const void* from, size_t bytes,
                   inner::internal::CudaCopy kind, void* stream) {
  FIRN_FAKE_CALL_();
  using inner::internal::CudaCopy;
  const bool to_fits = kind == CudaCopy::kToHost ? Pinned(to, bytes) : OnDevice(device, to, bytes);
  const bool from_fits =
      kind == CudaCopy::kToDevice ? Pinned(from, bytes) : OnDevice(device, from, bytes);
  if (!to_fits || !from_fits) return kInvalidValue;
  Enqueue(stream, {[=] { std::memmove(to, from, bytes); }, nullptr, nullptr});
  return 0;
}

int FakeCuda::SetZero(int device, void* data, size_t bytes, void* stream) {
  FIRN_FAKE_CALL_();
  if (!OnDevice(device, data, bytes)) return kInvalidValue;
  Enqueue(stream, {[=] { std::memset(data, 0, bytes); }, nullptr, nullptr});
  return 0;
}

int FakeCuda::CopyPeer(int to_device, void* to, int from_device, const void* from, size_t bytes,
                       void* stream) {
  FIRN_FAKE_CALL_();
  if (!OnDevice(to_device, to, bytes) || !OnDevice(from_device, from, bytes)) return kInvalidValue;
  Enqueue(stream, {[=] { std::memmove(to, from, bytes); }, nullptr, nullptr});
  return 0;
}

int FakeCuda::Launch(int device, const inner::internal::CudaLaunch& launch, void* stream) {
  FIRN_FAKE_CALL_();
  if (static_cast<Stream*>(stream)->device != device || launch.blocks == 0 || launch.threads == 0 ||
      launch.threads > 1024 || launch.argument_bytes > 4096) {
    return kInvalidValue;
  }
  const char* const argument = static_cast<const char*>(launch.argument);
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> copy((launch.argument_bytes + sizeof(Line) - 1) / sizeof(Line));
  std::memcpy(copy.data(), argument, launch.argument_bytes);
  HostKernel run = launch.on_host;
  if (run == nullptr) {
    run = reinterpret_cast<HostKernel>(reinterpret_cast<uintptr_t>(launch.kernel));
  }
  Enqueue(stream, {[copy = std::move(copy), run] { run(copy.data()); }, nullptr, nullptr});
  return 0;
}

int FakeCuda::EnqueueMeeting(int device, void* stream, std::function<bool()> meet) {
  FIRN_FAKE_CALL_();
  if (static_cast<Stream*>(stream)->device != device) return kInvalidValue;
  Enqueue(stream, {nullptr, nullptr, nullptr, std::move(meet)});
  return 0;
}

void FakeCuda::SetCompiler(std::function<HostKernel(const inner::internal::CudaSource&)> compiler) {
  compiler_ = std::move(compiler);
}

int FakeCuda::CompileKernel(int, const inner::internal::CudaSource& source, const char*,
                            const void** kernel, std::string* log) {
  *log = "told to fail";
  FIRN_FAKE_CALL_();
  log->clear();
  *kernel = compiler_ ? reinterpret_cast<const void*>(compiler_(source)) : nullptr;
  return 0;
}

std::string FakeCuda::Explain(int code) const {
  switch (code) {
    case kOutOfMemory:
      return "cudaErrorMemoryAllocation: out of memory";
    case kIllegalAddress:
      return "cudaErrorIllegalAddress: an illegal memory access was encountered";
    case kUnjoined:
      return "cudaErrorStreamCaptureUnjoined: capture was not joined to the original stream";
    case kIsolation:
      return "cudaErrorStreamCaptureIsolation: dependency created on uncaptured work";
    case kCapturedEvent:
      return "cudaErrorCapturedEvent: operation not permitted on an event last recorded in a "
             "capture";
    default:
      return "cudaErrorInvalidValue: invalid argument";
  }
}

inner::internal::CudaFailure FakeCuda::Classify(int code) const {
  if (code == kOutOfMemory) return inner::internal::CudaFailure::kOutOfMemory;
  return code == kIllegalAddress ? inner::internal::CudaFailure::kSticky
                                 : inner::internal::CudaFailure::kOther;
}

}  // namespace firn

// Streams are queues of closures. Waiting for a point runs its stream up to it; a wait inside the
// queue runs the other stream first. A launched graph is a queue for each stream that was recorded.
#include "tests/device/fake_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

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

template <class T>
bool Erase(std::set<std::unique_ptr<T>>& set, void* handle) {
  const auto at = std::find_if(set.begin(), set.end(),
                               [&](const std::unique_ptr<T>& p) { return p.get() == handle; });
  if (at == set.end()) return false;
  set.erase(at);
  return true;
}

}  // namespace

#define FIRN_FAKE_CALL_()                                   \
  const std::lock_guard<std::recursive_mutex> lock(mutex_); \
  if (const int code = Called(__func__); code != 0) return code == kDropped ? 0 : code

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
    for (const Work& work : stream->queue) count += work.run != nullptr ? 1 : 0;
  }
  return count;
}

bool FakeCuda::OnDevice(int device, const void* data, size_t bytes) const {
  return Inside(memory_[static_cast<size_t>(device)], data, bytes);
}

bool FakeCuda::Pinned(const void* data, size_t bytes) const { return Inside(pinned_, data, bytes); }

int FakeCuda::CountDevices(int* count) {
  FIRN_FAKE_CALL_();
  *count = devices_;
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
  SynchronizeDevice(device);  // as cudaFree does
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

int FakeCuda::CreateStream(int device, void** stream) {
  FIRN_FAKE_CALL_();
  const bool first = std::none_of(streams_.begin(), streams_.end(),
                                  [&](const auto& s) { return s->device == device; });
  *stream = streams_.insert(std::make_unique<Stream>(Stream{device, first})).first->get();
  return 0;
}

int FakeCuda::DestroyStream(int, void* stream) {
  FIRN_FAKE_CALL_();
  Drain(*static_cast<Stream*>(stream));
  return Erase(streams_, stream) ? 0 : kInvalidValue;
}

int FakeCuda::SynchronizeStream(int, void* stream) {
  FIRN_FAKE_CALL_();
  if (static_cast<Stream*>(stream)->recording != nullptr) return kInvalidValue;
  Drain(*static_cast<Stream*>(stream));
  return 0;
}

int FakeCuda::SynchronizeDevice(int device) {
  FIRN_FAKE_CALL_();
  for (const auto& stream : streams_) {
    if (stream->device == device) Drain(*stream);
  }
  return 0;
}

int FakeCuda::CreateEvent(int device, void** event) {
  FIRN_FAKE_CALL_();
  *event = events_.insert(std::make_unique<Event>(Event{device, nullptr})).first->get();
  return 0;
}

int FakeCuda::DestroyEvent(int, void* event) {
  FIRN_FAKE_CALL_();
  return Erase(events_, event) ? 0 : kInvalidValue;
}

int FakeCuda::RecordEvent(int device, void* event, void* stream) {
  FIRN_FAKE_CALL_();
  auto* const e = static_cast<Event*>(event);
  auto* const s = static_cast<Stream*>(stream);
  if (e->device != device || s->device != device) return kInvalidValue;
  const auto point = std::make_shared<Point>(Point{s});
  if (s->recording != nullptr) {
    point->in = s->recording;
    point->lane = s->lane;
    point->at = s->recording->lanes[s->lane].size();
  }
  e->point = point;
  Enqueue(stream, {nullptr, nullptr, point});
  return 0;
}

int FakeCuda::QueryEvent(int, void* event, bool* done) {
  FIRN_FAKE_CALL_();
  const auto& point = static_cast<Event*>(event)->point;
  if (point != nullptr && point->in != nullptr) return kCapturedEvent;
  *done = point == nullptr || point->reached;
  return 0;
}

int FakeCuda::SynchronizeEvent(int, void* event) {
  FIRN_FAKE_CALL_();
  const auto& point = static_cast<Event*>(event)->point;
  if (point != nullptr && point->in != nullptr) return kCapturedEvent;
  RunUntil(point);
  return 0;
}

int FakeCuda::EventMilliseconds(void*, void*, float* milliseconds) {
  FIRN_FAKE_CALL_();
  *milliseconds = 1;
  return 0;
}

int FakeCuda::WaitEvent(int, void* stream, void* event) {
  FIRN_FAKE_CALL_();
  const std::shared_ptr<Point> point = static_cast<Event*>(event)->point;
  auto* const s = static_cast<Stream*>(stream);
  if (point == nullptr) return 0;
  if (point->in != nullptr && s->recording == nullptr) {  // is recorded too from now on
    if (point->in->ended) return kCapturedEvent;
    s->recording = point->in;
    s->lane = point->in->lanes.size();
    point->in->lanes.emplace_back();
  }
  if (point->in != s->recording) return kIsolation;
  Enqueue(stream, {nullptr, point, nullptr});
  return 0;
}

int FakeCuda::Copy(int device, void* to, const void* from, size_t bytes, internal::CudaCopy kind,
                   void* stream) {
  FIRN_FAKE_CALL_();
  using internal::CudaCopy;
  const bool to_fits = kind == CudaCopy::kToHost ? Pinned(to, bytes) : OnDevice(device, to, bytes);
  const bool from_fits =
      kind == CudaCopy::kToDevice ? Pinned(from, bytes) : OnDevice(device, from, bytes);
  if (!to_fits || !from_fits) return kInvalidValue;
  Enqueue(stream, {[=] { std::memmove(to, from, bytes); }, nullptr, nullptr});
  return 0;
}

int FakeCuda::CopyPeer(int to_device, void* to, int from_device, const void* from, size_t bytes,
                       void* stream) {
  FIRN_FAKE_CALL_();
  if (!OnDevice(to_device, to, bytes) || !OnDevice(from_device, from, bytes)) return kInvalidValue;
  Enqueue(stream, {[=] { std::memmove(to, from, bytes); }, nullptr, nullptr});
  return 0;
}

int FakeCuda::Launch(int device, const internal::CudaLaunch& launch, void* stream) {
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

void FakeCuda::SetCompiler(std::function<HostKernel(const internal::CudaSource&)> compiler) {
  compiler_ = std::move(compiler);
}

int FakeCuda::CompileKernel(int, const internal::CudaSource& source, const char*,
                            const void** kernel, std::string* log) {
  *log = "told to fail";
  FIRN_FAKE_CALL_();
  log->clear();
  *kernel = compiler_ ? reinterpret_cast<const void*>(compiler_(source)) : nullptr;
  return 0;
}

int FakeCuda::BeginRecording(int, void* stream) {
  FIRN_FAKE_CALL_();
  auto* const s = static_cast<Stream*>(stream);
  if (s->recording != nullptr) return kInvalidValue;
  s->recording = std::make_shared<Recorded>();
  s->recording->lanes.resize(1);
  s->lane = 0;
  return 0;
}

int FakeCuda::EndRecording(int, void* stream, void** graph) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  const std::shared_ptr<Recorded> recorded = static_cast<Stream*>(stream)->recording;
  for (const auto& s : streams_) {
    if (s->recording == recorded) s->recording = nullptr;
  }
  Lanes lanes;
  if (recorded != nullptr) {
    recorded->ended = true;
    lanes = std::exchange(recorded->lanes, {});  // whose points hold what was recorded
  }
  if (const int code = Called("EndRecording"); code != 0) return code;
  if (recorded == nullptr) return kInvalidValue;
  if (!Joined(lanes)) return kUnjoined;
  *graph = graphs_.insert(std::make_unique<Graph>(Graph{std::move(lanes)})).first->get();
  return 0;
}

// Whether everything recorded comes before the end of the first lane.
bool FakeCuda::Joined(const Lanes& lanes) {
  std::vector<size_t> covered(lanes.size(), 0);
  std::vector<std::pair<size_t, size_t>> open = {{0, lanes[0].size()}};  // a lane, up to where
  while (!open.empty()) {
    const auto [lane, end] = open.back();
    open.pop_back();
    for (; covered[lane] < end; ++covered[lane]) {
      const Work& work = lanes[lane][covered[lane]];
      if (work.after != nullptr) open.emplace_back(work.after->lane, work.after->at + 1);
    }
  }
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    for (size_t at = covered[lane]; at < lanes[lane].size(); ++at) {
      if (lanes[lane][at].run != nullptr) return false;
    }
  }
  return true;
}

int FakeCuda::LaunchGraph(int device, void* graph, void* stream) {
  FIRN_FAKE_CALL_();
  if (static_cast<Stream*>(stream)->recording != nullptr) return kInvalidValue;
  std::erase_if(streams_, [](const auto& s) { return s->of_launch && s->queue.empty(); });
  const Lanes& lanes = static_cast<Graph*>(graph)->lanes;
  std::vector<Stream*> streams = {static_cast<Stream*>(stream)};
  while (streams.size() < lanes.size()) {
    auto made = std::make_unique<Stream>(Stream{device, false, true});
    streams.push_back(streams_.insert(std::move(made)).first->get());
  }
  std::map<Point*, std::shared_ptr<Point>> points;  // of this launch
  const auto point_of = [&](const std::shared_ptr<Point>& recorded) {
    if (recorded == nullptr) return recorded;
    auto& point = points[recorded.get()];
    if (point == nullptr) point = std::make_shared<Point>(Point{streams[recorded->lane]});
    return point;
  };
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    for (const Work& work : lanes[lane]) {
      streams[lane]->queue.push_back({work.run, point_of(work.after), point_of(work.reaches)});
    }
  }
  RunOthers();
  return 0;
}

int FakeCuda::DestroyGraph(int, void* graph) {
  FIRN_FAKE_CALL_();
  return Erase(graphs_, graph) ? 0 : kInvalidValue;
}

void FakeCuda::Enqueue(void* stream, Work work) {
  auto* const s = static_cast<Stream*>(stream);
  if (s->recording != nullptr) {
    s->recording->lanes[s->lane].push_back(std::move(work));
  } else {
    s->queue.push_back(std::move(work));
    RunOthers();
  }
}

// Runs the first piece of work, which must not have to wait.
void FakeCuda::Step(Stream& stream) {
  const Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (work.run != nullptr) work.run();
  if (work.reaches != nullptr) work.reaches->reached = true;
}

void FakeCuda::RunOthers() {
  for (bool more = others_ == Others::kEarly; more;) {
    more = false;
    for (const auto& stream : streams_) {
      if (stream->first || stream->queue.empty()) continue;
      const std::shared_ptr<Point>& after = stream->queue.front().after;
      if (after != nullptr && !after->reached) continue;
      Step(*stream);
      more = true;
    }
  }
}

void FakeCuda::RunUntil(const std::shared_ptr<Point>& point) {
  if (point == nullptr) return;
  std::vector<std::shared_ptr<Point>> goals = {point};  // each must be reached before the one below
  while (!goals.empty()) {
    const std::shared_ptr<Point> goal = goals.back();
    if (goal->reached) {
      goals.pop_back();
      continue;
    }
    const std::shared_ptr<Point> first = goal->stream->queue.front().after;
    if (first != nullptr && !first->reached) {
      goals.push_back(first);
    } else {
      Step(*goal->stream);
      RunOthers();
    }
  }
}

void FakeCuda::Drain(Stream& stream) {
  while (!stream.queue.empty()) {
    const std::shared_ptr<Point> after = stream.queue.front().after;
    if (after != nullptr && !after->reached) {
      RunUntil(after);
      continue;
    }
    Step(stream);
    RunOthers();
  }
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

internal::CudaFailure FakeCuda::Classify(int code) const {
  if (code == kOutOfMemory) return internal::CudaFailure::kOutOfMemory;
  return code == kIllegalAddress ? internal::CudaFailure::kSticky : internal::CudaFailure::kOther;
}

}  // namespace firn

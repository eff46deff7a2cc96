// Streams are queues of closures. Waiting for a point runs its stream up to it; a wait inside the
// queue runs the other stream first. A launched graph is a queue for each stream that was recorded.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tests/device/fake_cuda.h"
#include "tests/device/fake_cuda_call.h"

namespace firn {
namespace {

template <class T>
bool Erase(std::set<std::unique_ptr<T>>& set, void* handle) {
  const auto at = std::find_if(set.begin(), set.end(),
                               [&](const std::unique_ptr<T>& p) { return p.get() == handle; });
  if (at == set.end()) return false;
  set.erase(at);
  return true;
}

}  // namespace

int FakeCuda::CreateStream(int device, void** stream) {
  FIRN_FAKE_CALL_();
  const bool first = std::none_of(streams_.begin(), streams_.end(),
                                  [&](const auto& s) { return s->device == device; });
  *stream = streams_.insert(std::make_unique<Stream>(Stream{device, first})).first->get();
  return 0;
}

int FakeCuda::DeviceOf(void* stream) const {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  return static_cast<Stream*>(stream)->device;
}

bool FakeCuda::IsRecorded(void* stream) const {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  return static_cast<Stream*>(stream)->recording != nullptr;
}

bool FakeCuda::RecordsHere(int device) const {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  return std::any_of(streams_.begin(), streams_.end(), [&](const auto& s) {
    return s->device == device && s->recording != nullptr &&
           s->recording->by == std::this_thread::get_id();
  });
}

int FakeCuda::graphs_that_meet(int device) const {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  return static_cast<int>(std::count_if(graphs_.begin(), graphs_.end(), [&](const auto& graph) {
    return graph->device == device &&
           std::any_of(graph->lanes.begin(), graph->lanes.end(), [](const auto& lane) {
             return std::any_of(lane.begin(), lane.end(),
                                [](const Work& work) { return work.meet != nullptr; });
           });
  }));
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
  DrainAll(device);
  return 0;
}

void FakeCuda::DrainAll(int device) {
  for (const auto& stream : streams_) {
    if (stream->device == device) Drain(*stream);
  }
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

int FakeCuda::BeginRecording(int, void* stream) {
  FIRN_FAKE_CALL_();
  auto* const s = static_cast<Stream*>(stream);
  if (s->recording != nullptr) return kInvalidValue;
  s->recording = std::make_shared<Recorded>();
  s->recording->lanes.resize(1);
  s->lane = 0;
  return 0;
}

int FakeCuda::EndRecording(int device, void* stream, void** graph) {
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
  *graph = graphs_.insert(std::make_unique<Graph>(Graph{device, std::move(lanes)})).first->get();
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
      if (lanes[lane][at].run != nullptr || lanes[lane][at].meet != nullptr) return false;
    }
  }
  return true;
}

int FakeCuda::LaunchGraph(int device, void* graph, void* stream) {
  FIRN_FAKE_CALL_();
  if (static_cast<Stream*>(stream)->recording != nullptr) return kInvalidValue;
  // Streams of another device are left alone: its thread may be waiting for them.
  std::erase_if(streams_, [&](const auto& s) {
    return s->of_launch && s->device == device && s->queue.empty();
  });
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
      streams[lane]->queue.push_back(
          {work.run, point_of(work.after), point_of(work.reaches), work.meet});
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

// Runs the first piece of work, which must not have to wait for an event; false where it waits for
// other devices.
bool FakeCuda::Step(Stream& stream) {
  if (stream.queue.front().meet != nullptr && !stream.queue.front().meet()) return false;
  const Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (work.run != nullptr) work.run();
  if (work.reaches != nullptr) work.reaches->reached = true;
  return true;
}

// Requires: this thread has locked once.
void FakeCuda::WaitForOthers(int device) {
  bool moved = false;
  for (bool more = true; more; moved |= more) {
    more = false;
    for (const auto& stream : streams_) {
      if (stream->device == device || stream->queue.empty()) continue;
      const std::shared_ptr<Point>& after = stream->queue.front().after;
      if (after == nullptr || after->reached) more |= Step(*stream);
    }
  }
  if (moved) return;
  mutex_.unlock();
  usleep(100);
  mutex_.lock();
}

void FakeCuda::RunOthers() {
  for (bool more = others_ == Others::kEarly; more;) {
    more = false;
    for (const auto& stream : streams_) {
      if (stream->first || stream->queue.empty()) continue;
      const std::shared_ptr<Point>& after = stream->queue.front().after;
      if (after != nullptr && !after->reached) continue;
      more |= Step(*stream);
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
    } else if (Step(*goal->stream)) {
      RunOthers();
    } else {
      WaitForOthers(goal->stream->device);
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
    if (Step(stream)) {
      RunOthers();
    } else {
      WaitForOthers(stream.device);
    }
  }
}

}  // namespace firn

// One job at a time is handed to one thread, which was started with the first. Save waits while the
// thread is busy, so at most one copy of the tensors exists.
//
// A step shares its work among as many threads as there are processors and waits for the last of
// them, so a thread that took one of the processors would nearly double the step's time. The thread
// therefore rests between pieces of its work, so that it takes a small share of one, until somebody
// waits for it. A low priority instead would keep it from running at all where other programs take
// what is left.
#include "firn/io/checkpoints/checkpoint_manager.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/io/checkpoints/internal/checkpoint_file.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;
using File = CheckpointManager::File;

constexpr std::string_view kPrefix = "checkpoint_";
constexpr std::string_view kSuffix = ".h5";
constexpr size_t kDigits = 12;

std::string NameOf(int64_t step) {
  return absl::StrCat(std::string(kPrefix), absl::Dec(step, absl::kZeroPad12),
                      std::string(kSuffix));
}

// Nothing for a name that NameOf does not give.
std::optional<int64_t> StepOf(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  if (name.size() < kPrefix.size() + kDigits + kSuffix.size()) return {};
  const char* const begin = name.data() + kPrefix.size();
  const char* const end = name.data() + name.size() - kSuffix.size();
  int64_t step = 0;
  const auto [last, error] = std::from_chars(begin, end, step);
  if (error != std::errc() || last != end || step < 0 || NameOf(step) != name) return {};
  return step;
}

std::optional<double> AsMetric(const std::optional<double>& metric) {
  return metric.has_value() && !std::isnan(*metric) ? metric : std::nullopt;
}

// What the thread takes of a processor while it writes: one part of this many.
constexpr int64_t kShare = 30;

int64_t ThreadNanoseconds() {
  timespec used = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace

class CheckpointManager::State {
 public:
  State(const std::string& folder, const CheckpointManagerOptions& options)
      : folder_(folder), options_(options) {}
  ~State();

  absl::Status Open();
  void Save(const CheckpointParts& parts, const SaveCheckpointOptions& options);
  // Ends the write in progress; its status, once.
  absl::Status Wait();
  std::optional<Loaded> LoadLatest(const CheckpointParts& parts);
  std::vector<File> files();
  std::optional<File> best();

 private:
  // Paths and steps of what is there now, by rising steps.
  absl::StatusOr<std::vector<File>> List() const;
  absl::Status Write(const internal::CheckpointContents& contents, absl::FunctionRef<void()> pace);
  absl::Status Prune(int64_t written);
  std::vector<File> ByMetric() const;  // the best first; those without one left out
  void Start(internal::CheckpointContents contents);
  void Work();
  // Rests for as long as the work since the last call deserves, unless somebody waits.
  void Pace(int64_t* worked);
  void WaitUntilIdle(std::unique_lock<std::mutex>& lock) {
    hurry_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !busy_; });
    hurry_ = false;
  }

  const std::string folder_;
  const CheckpointManagerOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;  // any of these, which mutex_ guards
  bool busy_ = false;                // job_ is to be written or being written
  bool stop_ = false;
  bool hurry_ = false;  // somebody waits
  internal::CheckpointContents job_;
  absl::Status status_;      // of the last job
  std::vector<File> files_;  // by rising steps; the thread's own while busy_
  std::thread thread_;
};

CheckpointManager::State::~State() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::vector<File>> CheckpointManager::State::List() const {
  std::vector<File> files;
  std::error_code error;
  fs::directory_iterator at(folder_, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    if (const std::optional<int64_t> step = StepOf(at->path().filename().string())) {
      files.push_back({.path = at->path().string(), .step = *step, .metric = {}});
    }
  }
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot list ", folder_));
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.step < b.step; });
  return files;
}

absl::Status CheckpointManager::State::Open() {
  FIRN_RETURN_IF(options_.keep_last < 1,
                 InvalidArgument("keep_last is ", options_.keep_last, " (want >= 1)"));
  FIRN_RETURN_IF(options_.keep_best < 0,
                 InvalidArgument("keep_best is ", options_.keep_best, " (want >= 0)"));
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot make the folder ", folder_));
  firn::inner::internal::RemoveLeftovers(
      folder_, [](std::string_view name) { return StepOf(name).has_value(); });
  FIRN_ASSIGN_OR_RETURN(std::vector<File> found, List());
  for (File& file : found) {
    const auto contents = internal::ReadCheckpoint(file.path, {}, options_.limits);
    if (!contents.ok()) continue;  // LoadLatest says why
    file.metric = AsMetric(contents->info.metric);
    files_.push_back(std::move(file));
  }
  return absl::OkStatus();
}

void CheckpointManager::State::Save(const CheckpointParts& parts,
                                    const SaveCheckpointOptions& options) {
  if (options.step < 0) {
    RaiseStatus(InvalidArgument("step is ", options.step, " (want >= 0)"), "checkpoint manager");
  }
  RaiseIfError(Wait(), "checkpoint manager");
  internal::CheckpointContents contents = internal::CollectParts(parts, options);
  if (!options_.background) return RaiseIfError(Write(contents, [] {}), "checkpoint manager");
  internal::CopyElements(&contents);
  Start(std::move(contents));
}

void CheckpointManager::State::Start(internal::CheckpointContents contents) {
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { Work(); });
    } catch (const std::system_error& e) {
      RaiseStatus(ResourceExhausted("cannot start a thread: ", e.what()), "checkpoint manager");
    }
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    job_ = std::move(contents);
    busy_ = true;
  }
  changed_.notify_all();
}

void CheckpointManager::State::Pace(int64_t* worked) {
  const int64_t now = ThreadNanoseconds();
  const std::chrono::nanoseconds rest((now - *worked) * (kShare - 1));
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, rest, [this] { return hurry_ || stop_; });
  *worked = now;
}

void CheckpointManager::State::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return busy_ || stop_; });
    if (!busy_) return;
    std::optional<internal::CheckpointContents> contents = std::exchange(job_, {});
    lock.unlock();
    absl::Status status;
    try {
      int64_t worked = ThreadNanoseconds();
      status = Write(*contents, [&] { Pace(&worked); });
    } catch (const std::exception& e) {
      status =
          Internal("cannot write the checkpoint of step ", contents->info.step, ": ", e.what());
    }
    contents.reset();  // nobody has to wait for that
    lock.lock();
    status_ = std::move(status);
    busy_ = false;
    changed_.notify_all();
  }
}

absl::Status CheckpointManager::State::Write(const internal::CheckpointContents& contents,
                                             absl::FunctionRef<void()> pace) {
  const int64_t step = contents.info.step;
  const std::string path = (fs::path(folder_) / NameOf(step)).string();
  FIRN_RETURN_IF_ERROR(internal::WriteCheckpoint(path, contents, pace));
  std::erase_if(files_, [&](const File& f) { return f.step == step; });
  const auto after =
      std::find_if(files_.begin(), files_.end(), [&](const File& f) { return f.step > step; });
  files_.insert(after, {.path = path, .step = step, .metric = AsMetric(contents.info.metric)});
  return Prune(step);
}

std::vector<File> CheckpointManager::State::ByMetric() const {
  std::vector<File> files;
  for (auto f = files_.rbegin(); f != files_.rend(); ++f) {
    if (f->metric.has_value()) files.push_back(*f);
  }
  std::stable_sort(files.begin(), files.end(), [this](const File& a, const File& b) {
    return options_.maximize ? *a.metric > *b.metric : *a.metric < *b.metric;
  });
  return files;
}

absl::Status CheckpointManager::State::Prune(int64_t written) {
  std::vector<int64_t> keep = {written};
  for (auto f = files_.rbegin(); f != files_.rend(); ++f) {
    if (f - files_.rbegin() < options_.keep_last) keep.push_back(f->step);
  }
  const std::vector<File> best = ByMetric();
  for (size_t i = 0; i < best.size() && i < static_cast<size_t>(options_.keep_best); ++i) {
    keep.push_back(best[i].step);
  }
  absl::Status status;
  std::erase_if(files_, [&](const File& f) {
    if (std::find(keep.begin(), keep.end(), f.step) != keep.end()) return false;
    std::error_code error;
    fs::remove(f.path, error);
    if (error)
      status.Update(absl::ErrnoToStatus(error.value(), absl::StrCat("cannot remove ", f.path)));
    return !error;
  });
  return status;
}

absl::Status CheckpointManager::State::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntilIdle(lock);
  return std::exchange(status_, absl::OkStatus());
}

std::optional<CheckpointManager::Loaded> CheckpointManager::State::LoadLatest(
    const CheckpointParts& parts) {
  constexpr char kWho[] = "checkpoint manager";
  RaiseIfError(Wait(), kWho);
  const std::vector<std::string> names = internal::PartNames(parts);
  absl::StatusOr<std::vector<File>> found = List();
  RaiseIfError(found.status(), kWho);
  Loaded loaded;
  for (auto file = found->rbegin(); file != found->rend(); ++file) {
    const auto contents = internal::ReadCheckpoint(file->path, names, options_.limits);
    if (contents.ok()) {
      internal::LoadParts(file->path, *contents, parts);
      loaded.path = file->path;
      loaded.info = contents->info;
      return loaded;
    }
    // An intact file without one of the parts is another program's, not a damaged one.
    if (absl::IsFailedPrecondition(contents.status())) RaiseStatus(contents.status(), kWho);
    loaded.skipped.push_back({file->path, std::string(contents.status().message())});
    std::erase_if(files_, [&](const File& f) { return f.step == file->step; });
  }
  if (loaded.skipped.empty()) return std::nullopt;
  std::string all;
  for (const Skipped& s : loaded.skipped) absl::StrAppend(&all, "; ", s.reason);
  RaiseStatus(DataLoss("no checkpoint in ", folder_, " can be read", all), kWho);
}

std::vector<File> CheckpointManager::State::files() {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntilIdle(lock);
  return files_;
}

std::optional<File> CheckpointManager::State::best() {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntilIdle(lock);
  const std::vector<File> files = ByMetric();
  return files.empty() ? std::nullopt : std::optional<File>(files.front());
}

CheckpointManager::CheckpointManager(const std::string& folder,
                                     const CheckpointManagerOptions& options)
    : state_(std::make_unique<State>(folder, options)) {
  RaiseIfError(state_->Open(), "checkpoint manager");
}

CheckpointManager::~CheckpointManager() = default;

void CheckpointManager::Save(const CheckpointParts& parts, const SaveCheckpointOptions& options) {
  state_->Save(parts, options);
}

void CheckpointManager::Wait() { RaiseIfError(state_->Wait(), "checkpoint manager"); }

std::optional<CheckpointManager::Loaded> CheckpointManager::LoadLatest(
    const CheckpointParts& parts) {
  return state_->LoadLatest(parts);
}

std::vector<CheckpointManager::File> CheckpointManager::files() const { return state_->files(); }

std::optional<CheckpointManager::File> CheckpointManager::best() const { return state_->best(); }

}  // namespace firn::io

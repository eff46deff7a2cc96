// One job at a time is handed to one thread, which was started with the first. Save waits while the
// thread is busy, so at most one copy of the tensors exists.
//
// A step shares its work among as many threads as there are processors and waits for the last of
// them, so a thread that took one of the processors would nearly double the step's time. The thread
// therefore rests between pieces of its work, so that it takes a small share of one, until somebody
// waits for it. With a low priority instead it might never run beside other programs.
#include "firn/io/checkpoints/internal/checkpoint_folder.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::io::internal {
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

// Returns nothing for a name that NameOf does not give.
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

// While it writes, the thread uses one part in this many of a processor's time.
constexpr int64_t kShare = 30;

int64_t ThreadNanoseconds() {
  timespec used = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace

CheckpointFolder::~CheckpointFolder() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::vector<File>> CheckpointFolder::List() const {
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

absl::Status CheckpointFolder::Open() {
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
    const auto contents = ReadCheckpoint(file.path, {}, options_.limits);
    if (!contents.ok()) continue;  // LoadLatest says why
    file.metric = AsMetric(contents->info.metric);
    files_.push_back(std::move(file));
  }
  return absl::OkStatus();
}

void CheckpointFolder::Save(const CheckpointParts& parts, const SaveCheckpointOptions& options) {
  if (options.step < 0) {
    RaiseStatus(InvalidArgument("step is ", options.step, " (want >= 0)"), "checkpoint manager");
  }
  RaiseIfError(Wait(), "checkpoint manager");
  CheckpointContents contents = CollectParts(parts, options);
  if (!options_.background) return RaiseIfError(Write(contents, [] {}), "checkpoint manager");
  CopyElements(&contents);
  Start(std::move(contents));
}

void CheckpointFolder::Start(CheckpointContents contents) {
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

void CheckpointFolder::Pace(int64_t* worked) {
  const int64_t now = ThreadNanoseconds();
  const std::chrono::nanoseconds rest((now - *worked) * (kShare - 1));
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, rest, [this] { return hurry_ || stop_; });
  *worked = now;
}

void CheckpointFolder::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return busy_ || stop_; });
    if (!busy_) return;
    std::optional<CheckpointContents> contents = std::exchange(job_, {});
    lock.unlock();
    absl::Status status;
    try {
      int64_t worked = ThreadNanoseconds();
      status = Write(*contents, [&] { Pace(&worked); });
    } catch (const std::exception& e) {
      status =
          Internal("cannot write the checkpoint of step ", contents->info.step, ": ", e.what());
    }
    contents.reset();  // no caller waits for this part
    lock.lock();
    status_ = std::move(status);
    busy_ = false;
    changed_.notify_all();
  }
}

absl::Status CheckpointFolder::Write(const CheckpointContents& contents,
                                     absl::FunctionRef<void()> pace) {
  const int64_t step = contents.info.step;
  const std::string path = (fs::path(folder_) / NameOf(step)).string();
  FIRN_RETURN_IF_ERROR(WriteCheckpoint(path, contents, pace));
  std::erase_if(files_, [&](const File& f) { return f.step == step; });
  const auto after =
      std::find_if(files_.begin(), files_.end(), [&](const File& f) { return f.step > step; });
  files_.insert(after, {.path = path, .step = step, .metric = AsMetric(contents.info.metric)});
  return Prune(step);
}

std::vector<File> CheckpointFolder::ByMetric() const {
  std::vector<File> files;
  for (auto f = files_.rbegin(); f != files_.rend(); ++f) {
    if (f->metric.has_value()) files.push_back(*f);
  }
  std::stable_sort(files.begin(), files.end(), [this](const File& a, const File& b) {
    return options_.maximize ? *a.metric > *b.metric : *a.metric < *b.metric;
  });
  return files;
}

absl::Status CheckpointFolder::Prune(int64_t written) {
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

absl::Status CheckpointFolder::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntilIdle(lock);
  return std::exchange(status_, absl::OkStatus());
}

absl::StatusOr<std::optional<CheckpointFolder::Latest>> CheckpointFolder::FindLatest(
    const std::vector<std::string>& parts) {
  FIRN_RETURN_IF_ERROR(Wait());
  FIRN_ASSIGN_OR_RETURN(const std::vector<File> found, List());
  Latest latest;
  for (auto file = found.rbegin(); file != found.rend(); ++file) {
    absl::StatusOr<CheckpointContents> contents =
        ReadCheckpoint(file->path, parts, options_.limits);
    if (contents.ok()) {
      latest.path = file->path;
      latest.contents = *std::move(contents);
      return latest;
    }
    // An intact file without one of the parts is another program's, not a damaged one.
    if (absl::IsFailedPrecondition(contents.status())) return contents.status();
    latest.skipped.push_back({file->path, std::string(contents.status().message())});
    std::erase_if(files_, [&](const File& f) { return f.step == file->step; });
  }
  if (latest.skipped.empty()) return std::nullopt;
  std::string all;
  for (const auto& s : latest.skipped) absl::StrAppend(&all, "; ", s.reason);
  return DataLoss("no checkpoint in ", folder_, " can be read", all);
}

std::vector<File> CheckpointFolder::files() {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntilIdle(lock);
  return files_;
}

std::optional<File> CheckpointFolder::best() {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntilIdle(lock);
  const std::vector<File> files = ByMetric();
  return files.empty() ? std::nullopt : std::optional<File>(files.front());
}

}  // namespace firn::io::internal

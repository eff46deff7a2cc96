#ifndef FIRN_TENSOR_KERNELS_CUDA_PLAN_CACHE_H_
#define FIRN_TENSOR_KERNELS_CUDA_PLAN_CACHE_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace firn::cuda {

// A cache of results that took long to find, such as the fastest engine for a convolution, kept in
// a file for later processes: texts by text. Thread-safe.
//
// A cache makes programs faster and never stops one: a file that cannot be read, is damaged or is
// of another version counts as empty, which is reported by one line on stderr, and the next Save
// replaces it. Where no file can be written, there is none, without a message.
class PlanCache {
 public:
  // Longer ones are not kept. With the most entries in it the file has less than 40 MB.
  static constexpr size_t kMaxKey = 1024, kMaxValue = 1024, kMaxEntries = 16384;
  static constexpr std::chrono::milliseconds kBetweenSaves{2000};

  // Read at first use. "": a cache of this process only.
  explicit PlanCache(std::string path, std::chrono::milliseconds between_saves = kBetweenSaves)
      : path_(std::move(path)), between_saves_(between_saves) {}

  // The value in the file when it was read; later additions do not change it, so a process that
  // asks twice gets the same answer.
  std::optional<std::string> Find(std::string_view key);
  // The same, but values that this process has added come first.
  std::optional<std::string> FindNewest(std::string_view key);
  void Add(std::string_view key, std::string_view value);
  // Writes the file if there are new entries: the entries that it has by now, and those that were
  // added, which win. Makes its folder if that is missing.
  void Save();
  // The same, unless the last save, or the start, was only just before: so many additions cost one
  // write.
  void SaveNowAndThen();

 private:
  using Entries = std::map<std::string, std::string, std::less<>>;
  void ReadOnce();
  Entries ReadFile();
  void SaveLocked();

  using Clock = std::chrono::steady_clock;
  const std::string path_;
  const std::chrono::milliseconds between_saves_;
  Clock::time_point last_save_ = Clock::now();
  std::mutex mutex_;
  bool read_ = false, warned_ = false, unsaved_ = false;
  Entries found_, added_;
};

// The cache of this process: "plans" in env::CacheFolder(). Unsaved entries are saved at the end of
// the process.
PlanCache& SharedPlanCache();

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_PLAN_CACHE_H_

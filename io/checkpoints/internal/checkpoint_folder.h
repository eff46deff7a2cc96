#ifndef FIRN_IO_CHECKPOINTS_INTERNAL_CHECKPOINT_FOLDER_H_
#define FIRN_IO_CHECKPOINTS_INTERNAL_CHECKPOINT_FOLDER_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/checkpoints/checkpoint_manager.h"
#include "firn/io/checkpoints/internal/checkpoint_file.h"

namespace firn::io::internal {

// A CheckpointManager's folder, on the one rank that writes. For one thread at a time.
class CheckpointFolder {
 public:
  CheckpointFolder(const std::string& folder, const CheckpointManagerOptions& options)
      : folder_(folder), options_(options) {}
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  // Makes the folder and looks at what is there.
  absl::Status Open();
  // Throws as CheckpointManager::Save.
  void Save(const CheckpointParts& parts, const SaveCheckpointOptions& options);
  // Ends the write in progress; its status, once.
  absl::Status Wait();
  // The newest file that is whole and has these parts, while nothing is being written; nothing
  // where there is no checkpoint.
  struct Latest {
    std::string path;
    CheckpointContents contents;
    std::vector<CheckpointManager::Skipped> skipped;
  };
  absl::StatusOr<std::optional<Latest>> FindLatest(const std::vector<std::string>& parts);
  std::vector<CheckpointManager::File> files();
  std::optional<CheckpointManager::File> best();

 private:
  // Paths and steps of the checkpoints in the folder, by rising steps.
  absl::StatusOr<std::vector<CheckpointManager::File>> List() const;
  absl::Status Write(const CheckpointContents& contents, absl::FunctionRef<void()> pace);
  absl::Status Prune(int64_t written);
  std::vector<CheckpointManager::File> ByMetric()
      const;  // the best first; those without one left out
  void Start(CheckpointContents contents);
  void Work();
  // Rests in proportion to the work since the last call, unless somebody waits.
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
  std::condition_variable changed_;  // a change of the members that mutex_ guards
  bool busy_ = false;                // job_ is to be written or being written
  bool stop_ = false;
  bool hurry_ = false;  // somebody waits
  CheckpointContents job_;
  absl::Status status_;                         // of the last job
  std::vector<CheckpointManager::File> files_;  // by rising steps; the thread's own while busy_
  std::thread thread_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_CHECKPOINTS_INTERNAL_CHECKPOINT_FOLDER_H_

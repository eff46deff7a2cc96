// One rank has the folder. In a joint step each rank does its work and tells the others the outcome
// before any rank goes on. So an error of one rank is an error of all, and no rank waits for one
// that has thrown.
#include "firn/io/checkpoints/checkpoint_manager.h"

#include <exception>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/comm/shared_status.h"
#include "firn/device/status_macros.h"
#include "firn/io/checkpoints/internal/checkpoint_file.h"
#include "firn/io/checkpoints/internal/checkpoint_folder.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "checkpoint manager";
using File = CheckpointManager::File;
using Loaded = CheckpointManager::Loaded;

// The messages about files that ranks send each other: three texts each.
std::vector<std::string> TextsOf(const std::vector<File>& files) {
  std::vector<std::string> texts;
  for (const File& file : files) {
    texts.insert(texts.end(), {file.path, absl::StrCat(file.step),
                               file.metric ? absl::StrFormat("%.17g", *file.metric) : ""});
  }
  return texts;
}

std::vector<File> FilesOf(const std::vector<std::string>& texts) {
  std::vector<File> files;
  for (size_t i = 0; i + 2 < texts.size(); i += 3) {
    File& file = files.emplace_back(File{.path = texts[i], .step = 0, .metric = {}});
    double metric = 0;
    bool good = absl::SimpleAtoi(texts[i + 1], &file.step);
    if (!texts[i + 2].empty()) {
      good = good && absl::SimpleAtod(texts[i + 2], &metric);
      file.metric = metric;
    }
    if (!good) RaiseStatus(Internal("rank 0 tells of no file: ", texts[i]), kWho);
  }
  return files;
}

}  // namespace

class CheckpointManager::State {
 public:
  State(const std::string& folder, const CheckpointManagerOptions& options)
      : ranks_(options.ranks), limits_(options.limits) {
    if (ranks_ == nullptr || ranks_->rank() == 0) folder_.emplace(folder, options);
    Together([&] { RaiseIfError(folder_ ? folder_->Open() : absl::OkStatus(), kWho); });
  }

  void Save(const CheckpointParts& parts, const SaveCheckpointOptions& options) {
    if (ranks_ == nullptr) return folder_->Save(parts, options);
    Together([&] {  // before the parts give their states, which may need all ranks too
      RaiseIfError(folder_ ? folder_->Wait() : absl::OkStatus(), kWho);
      if (options.step < 0) {
        RaiseStatus(InvalidArgument("step is ", options.step, " (want >= 0)"), kWho);
      }
    });
    Together([&] {
      if (folder_) return folder_->Save(parts, options);
      static_cast<void>(internal::CollectParts(parts, options));
    });
  }

  void Wait() {
    Together([&] { RaiseIfError(folder_ ? folder_->Wait() : absl::OkStatus(), kWho); });
  }

  std::optional<Loaded> LoadLatest(const CheckpointParts& parts);

  std::vector<File> files() {
    return OfRankZero([&] { return folder_->files(); });
  }
  std::optional<File> best() {
    const std::vector<File> found = OfRankZero([&] {
      const std::optional<File> best = folder_->best();
      return best ? std::vector<File>{*best} : std::vector<File>();
    });
    return found.empty() ? std::nullopt : std::optional<File>(found.front());
  }

 private:
  // Does the work of this rank. Throws on all ranks what it throws on one.
  void Together(absl::FunctionRef<void()> work) {
    if (ranks_ == nullptr) return work();
    absl::Status own;
    try {
      work();
    } catch (const Error& error) {
      own = error.status();
    } catch (const std::exception& error) {
      own = absl::UnknownError(error.what());
    }
    RaiseIfError(comm::StatusOfAll(*ranks_, own), kWho);
  }

  template <class F>
  std::vector<File> OfRankZero(F files) {
    if (ranks_ == nullptr) return files();
    std::vector<std::string> texts;
    if (folder_) texts = TextsOf(files());
    RaiseIfError(comm::BroadcastTexts(*ranks_, texts, 0), kWho);
    return FilesOf(texts);
  }

  comm::Communicator* const ranks_;
  const LoadLimits limits_;
  std::optional<internal::CheckpointFolder> folder_;  // empty but on rank 0
};

std::optional<Loaded> CheckpointManager::State::LoadLatest(const CheckpointParts& parts) {
  const std::vector<std::string> names = internal::PartNames(parts);
  internal::CheckpointFolder::Latest latest;
  std::vector<std::string> texts;  // its path, and those of what was skipped with the reasons
  Together([&] {
    if (!folder_) return;
    auto found = folder_->FindLatest(names);
    RaiseIfError(found.status(), kWho);
    if (!*found) return;
    latest = **std::move(found);
    texts = {latest.path};
    for (const Skipped& s : latest.skipped) texts.insert(texts.end(), {s.path, s.reason});
  });
  if (ranks_ != nullptr) RaiseIfError(comm::BroadcastTexts(*ranks_, texts, 0), kWho);
  if (texts.empty()) return std::nullopt;
  Together([&] {
    if (folder_) return;
    auto contents = internal::ReadCheckpoint(texts[0], names, limits_);
    RaiseIfError(contents.status(), kWho);
    latest.contents = *std::move(contents);
  });
  Loaded loaded = {.path = texts[0], .info = latest.contents.info, .skipped = {}};
  for (size_t i = 1; i + 1 < texts.size(); i += 2) {
    loaded.skipped.push_back({texts[i], texts[i + 1]});
  }
  Together([&] { internal::LoadParts(loaded.path, latest.contents, parts); });
  return loaded;
}

CheckpointManager::CheckpointManager(const std::string& folder,
                                     const CheckpointManagerOptions& options)
    : state_(std::make_unique<State>(folder, options)) {}

CheckpointManager::~CheckpointManager() = default;

void CheckpointManager::Save(const CheckpointParts& parts, const SaveCheckpointOptions& options) {
  state_->Save(parts, options);
}

void CheckpointManager::Wait() { state_->Wait(); }

std::optional<Loaded> CheckpointManager::LoadLatest(const CheckpointParts& parts) {
  return state_->LoadLatest(parts);
}

std::vector<File> CheckpointManager::files() const { return state_->files(); }

std::optional<File> CheckpointManager::best() const { return state_->best(); }

}  // namespace firn::io

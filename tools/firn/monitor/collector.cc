// A file that has grown is read from where its follower stands. One that was replaced, or cut and
// written on (a run that goes on removes what it will do again), is begun anew: it is shorter than
// what was read of it, or the last bytes that were read are others.
#include "tools/firn/monitor/collector.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/device/text_table.h"

namespace firn::cli {
namespace {

constexpr int64_t kMostEntries = 5'000'000;
constexpr int64_t kTail = 64;
constexpr int64_t kLong = int64_t{256} << 20;  // bytes that take some seconds

using MakeFollower = std::unique_ptr<Follower> (*)(const std::string& file_name, Rooms* rooms);
constexpr MakeFollower kKinds[] = {FollowEvents, FollowLines, FollowGraph};

std::unique_ptr<Follower> FollowerOf(const std::string& name, Rooms* rooms) {
  for (const MakeFollower make : kKinds) {
    if (auto follower = make(name, rooms)) return follower;
  }
  return nullptr;
}

int64_t ChangedAt(const struct stat& info) {
  return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

absl::StatusOr<std::string> TailOf(const io::RandomAccess& file, int64_t end) {
  std::string tail(static_cast<size_t>(std::min(end, kTail)), '\0');
  const auto n = static_cast<int64_t>(tail.size());
  FIRN_RETURN_IF_ERROR(file.ReadAt(end - n, tail.data(), n, "text"));
  return tail;
}

}  // namespace

Collector::Collector(std::string folder, const MonitorLimits& limits,
                     std::function<void(const std::string&)> say)
    : folder_(std::move(folder)), rooms_(limits), say_(std::move(say)), shelf_(limits) {}

absl::StatusOr<bool> Collector::Update() {
  for (auto& [path, file] : files_) file.seen = false;
  shelf_.Begin();
  entries_ = passed_over_ = 0;
  FIRN_RETURN_IF_ERROR(Walk("", 0));
  // Files that are gone give their room back before others take it.
  bool changed = std::erase_if(files_, [](const auto& file) { return !file.second.seen; }) > 0;
  for (auto& [path, file] : files_) {
    if (!std::exchange(file.grown, false)) continue;
    changed = true;
    file.status = ReadMore(path, &file);
  }
  return shelf_.Changed() || changed;
}

// Uses readdir and not std::filesystem: names are bytes, and one stat for each is enough.
absl::Status Collector::Walk(const std::string& below, int depth) {
  const std::string folder = below.empty() ? folder_ : folder_ + "/" + below;
  // A folder below may have become a link since lstat; the one that is asked for may be one.
  const int no_link = depth == 0 ? 0 : O_NOFOLLOW;
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | no_link);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd < 0 ? nullptr : fdopendir(fd), closedir);
  if (entries == nullptr) {
    const int error = errno;
    if (fd >= 0) close(fd);
    if (depth == 0) return absl::ErrnoToStatus(error, absl::StrCat("cannot read ", folder));
    ++passed_over_;
    return absl::OkStatus();
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(entries.get())) {
    if (entry->d_name[0] == '.') continue;
    FIRN_RETURN_IF(++entries_ > kMostEntries,
                   ResourceExhausted(folder_, ": more than ", kMostEntries, " files"));
    names.push_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    FIRN_RETURN_IF_ERROR(TakeEntry(below.empty() ? name : below + "/" + name, name, depth));
  }
  return absl::OkStatus();
}

absl::Status Collector::TakeEntry(const std::string& path, const std::string& name, int depth) {
  struct stat info;
  if (lstat((folder_ + "/" + path).c_str(), &info) != 0) return absl::OkStatus();  // gone meanwhile
  if (S_ISDIR(info.st_mode)) {
    if (depth < rooms_.limits.max_depth) return Walk(path, depth + 1);
    ++passed_over_;
    return absl::OkStatus();
  }
  if (!S_ISREG(info.st_mode)) {
    ++passed_over_;
  } else if (IsPictureName(name)) {
    shelf_.Add(MakePictureFile(path, ChangedAt(info), int64_t{info.st_size}));
  } else {
    Follow(path, name, info);
  }
  return absl::OkStatus();
}

void Collector::Follow(const std::string& path, const std::string& name, const struct stat& info) {
  auto at = files_.find(path);
  if (at == files_.end()) {
    auto follower = FollowerOf(name, &rooms_);
    if (follower == nullptr) return;
    if (static_cast<int64_t>(files_.size()) >= rooms_.limits.max_files) {
      ++passed_over_;
      return;
    }
    at = files_.emplace(path, Followed{}).first;
    at->second.follower = std::move(follower);
  }
  Followed& file = at->second;
  file.seen = true;
  if (file.size == info.st_size && file.changed == ChangedAt(info)) return;
  file.grown = true;
  file.size = info.st_size;
  file.changed = ChangedAt(info);
}

absl::Status Collector::ReadMore(const std::string& path, Followed* file) {
  FIRN_ASSIGN_OR_RETURN(const auto source,
                        io::RandomAccess::Open(folder_ + "/" + path, io::Links::kRefuse));
  bool same = source->size() >= file->follower->offset();
  if (same) {
    FIRN_ASSIGN_OR_RETURN(const std::string tail, TailOf(*source, file->follower->offset()));
    same = tail == file->tail;
  }
  if (!same) {
    file->follower.reset();  // its room before the new one takes some
    file->follower = FollowerOf(path.substr(path.rfind('/') + 1), &rooms_);
    file->tail.clear();
  }
  const int64_t more = source->size() - file->follower->offset();
  if (say_ && more > kLong) {
    say_(absl::StrCat("reading ", path, " (", inner::internal::BytesText(more), ")"));
  }
  const absl::Status status = file->follower->Read(*source);
  FIRN_ASSIGN_OR_RETURN(file->tail, TailOf(*source, file->follower->offset()));
  return status;
}

}  // namespace firn::cli

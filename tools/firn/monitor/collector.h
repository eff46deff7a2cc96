#ifndef FIRN_TOOLS_FIRN_MONITOR_COLLECTOR_H_
#define FIRN_TOOLS_FIRN_MONITOR_COLLECTOR_H_

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/firn/monitor/follower.h"
#include "tools/firn/monitor/picture_files.h"
#include "tools/firn/monitor/run_contents.h"

namespace firn::cli {

// Finds the files of a run in a folder and the folders in it, while the run goes on: those of
// NNabla's monitors, of CsvWriter, JsonLinesWriter and EventWriter of io/monitors, pictures, and
// graphs of io::SaveGraph. Files are followed: only what has been added is read. Memory does not
// depend on their size. Names that begin with a dot and symbolic links are passed over.
// Thread-compatible.
class Collector {
 public:
  // `say` gets a line before a long reading; may be empty.
  explicit Collector(std::string folder, const MonitorLimits& limits = {},
                     std::function<void(const std::string&)> say = {});

  // Looks at the folder. Returns whether anything has changed since the last call. Errors: NotFound
  // and the like for the folder itself; those of files are in Contents().problems.
  absl::StatusOr<bool> Update();
  // The contents of all files, put together.
  RunContents Contents();

 private:
  struct Followed {
    std::unique_ptr<Follower> follower;
    int64_t size = -1, changed = 0;
    std::string tail;  // the bytes before the follower's offset
    absl::Status status;
    bool seen = false, grown = false;  // by the present walk
  };

  absl::Status Walk(const std::string& below, int depth);
  absl::Status TakeEntry(const std::string& path, const std::string& name, int depth);
  void Follow(const std::string& path, const std::string& name, const struct stat& info);
  absl::Status ReadMore(const std::string& path, Followed* file);
  void AddCurves(RunContents* contents) const;
  void AddPictures(RunContents* contents);
  void AddOthers(RunContents* contents) const;

  const std::string folder_;
  Rooms rooms_;
  const std::function<void(const std::string&)> say_;
  std::map<std::string, Followed> files_;  // by path; gives its room back before rooms_ goes
  PictureShelf shelf_;
  int64_t entries_ = 0, passed_over_ = 0;  // of the last walk
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_COLLECTOR_H_

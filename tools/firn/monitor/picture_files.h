#ifndef FIRN_TOOLS_FIRN_MONITOR_PICTURE_FILES_H_
#define FIRN_TOOLS_FIRN_MONITOR_PICTURE_FILES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/firn/monitor/follower.h"

namespace firn::cli {

// The folder of a path, "" for that which is looked at.
std::string FolderOf(const std::string& path);

// Whether a file of this name is a picture that a page can show: PNG, JPEG, GIF, BMP, PNM, TIFF or
// SVG.
bool IsPictureName(std::string_view file_name);

// Makes sure that the bytes are a picture by decoding it within the limits; what browsers do not
// show becomes PNG. An SVG is only told by its name `svg`: a browser decodes it without running
// anything, because it is an image of the page.
absl::StatusOr<std::shared_ptr<const Picture>> CheckPicture(std::string bytes,
                                                            const std::string& caption, bool svg,
                                                            const MonitorLimits& limits);

// A file that may be shown.
struct PictureFile {
  std::string path;    // from the folder that is looked at
  int64_t index = -1;  // "000099-003.png" is 99 and 3; -1 where the name has no numbers
  int64_t place = 0;
  int64_t changed = 0, bytes = 0;  // when, in the file system's count, and how large it is

  // The newest first, within an index by place.
  bool operator<(const PictureFile& other) const;
};
PictureFile MakePictureFile(const std::string& path, int64_t changed, int64_t bytes);

// The newest pictures of each folder; those that were looked at are kept while they stay so, and
// are not forgotten.
// Thread-compatible.
class PictureShelf {
 public:
  struct Row {
    std::set<PictureFile> newest;
    int64_t count = 0;
  };
  explicit PictureShelf(const MonitorLimits& limits) : limits_(limits) {}
  // All pictures of the folder are told again after Begin.
  void Begin() { rows_.clear(); }
  // Takes only files of at most 200 folders.
  void Add(const PictureFile& file);
  // Whether there were more folders.
  bool refused() const { return refused_; }
  const std::map<std::string, Row>& rows() const { return rows_; }
  // The picture in a file of `folder`, which is no link. An error is kept like a picture.
  absl::StatusOr<std::shared_ptr<const Picture>> Load(const std::string& folder,
                                                      const PictureFile& file);
  // Gives the memory of a picture back.
  void Forget(const PictureFile& file) { loaded_.erase(file.path); }
  // Whether the rows differ from those of the last call.
  bool Changed();

 private:
  struct Loaded {
    int64_t changed, bytes;
    absl::StatusOr<std::shared_ptr<const Picture>> picture;
  };
  const MonitorLimits limits_;
  std::map<std::string, Row> rows_;
  bool refused_ = false;
  std::map<std::string, Loaded> loaded_;  // by path
  std::vector<PictureFile> before_;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_PICTURE_FILES_H_

#ifndef FIRN_TOOLS_FIRN_MONITOR_FOLLOWER_H_
#define FIRN_TOOLS_FIRN_MONITOR_FOLLOWER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/random_access.h"
#include "tools/firn/monitor/room.h"
#include "tools/firn/monitor/run_contents.h"
#include "tools/firn/monitor/sample.h"

namespace firn::cli {

// Limits on what is kept and read, for all files of a run together, however many there are.
struct MonitorLimits {
  int64_t max_files = 2000;                         // that are followed, beside pictures
  int max_depth = 8;                                // of folders in folders
  int64_t max_record_bytes = int64_t{16} << 20;     // of a line, of an event
  int64_t curve_bytes = int64_t{16} << 20;          // some 340 curves
  int64_t other_bytes = int64_t{16} << 20;          // histograms, texts, graphs
  int64_t event_picture_bytes = int64_t{32} << 20;  // as encoded
  int64_t max_name_bytes = 256;                     // longer names are cut
  int64_t max_text_bytes = int64_t{16} << 10;       // longer texts are cut
  int64_t max_graph_file_bytes = int64_t{256} << 20;
  int64_t max_picture_bytes = int64_t{4} << 20;  // larger ones are left out
  int64_t max_picture_pixels = int64_t{1} << 22;
  int64_t max_pictures = 16;                   // of one name
  int64_t embedded_bytes = int64_t{16} << 20;  // of all pictures together
};

struct Rooms {
  explicit Rooms(const MonitorLimits& l)
      : limits(l), curves(l.curve_bytes), other(l.other_bytes), pictures(l.event_picture_bytes) {}
  const MonitorLimits limits;
  Room curves, other, pictures;
};

// What one file has. Things come by name.
struct Findings {
  template <class T>
  struct Kept {
    T value;
    Room::Share share;
  };
  struct EventPicture {
    int64_t step = 0;
    std::string encoded;
    Room::Share share;
    std::shared_ptr<const Picture> checked;  // set when it was looked at
  };
  struct EventPictures {
    std::deque<EventPicture> newest;
    int64_t count = 0;       // of all that there are
    int64_t first_step = 0;  // the least of theirs
  };

  std::map<std::string, Kept<ThinCurve>> curves;
  bool by_epoch = false;  // what the x of all of them counts; else steps, or something unknown
  std::map<std::string, EventPictures> pictures;
  std::map<std::string, Kept<Sample<HistogramAt>>> histograms;
  std::map<std::string, Kept<TextFound>> texts;
  std::vector<io::EventGraphNode> graph;
  Room::Share graph_share;
  bool by_module = false;            // as GraphFound has it
  std::optional<int64_t> begins_at;  // earlier files' points from this step on are void
};

// Reads a file that grows, again and again. Thread-compatible.
class Follower {
 public:
  explicit Follower(Rooms* rooms) : rooms_(rooms) {}
  virtual ~Follower() = default;
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Goes on behind offset(). After an error what was found before it stays, and the next call tries
  // the same place again.
  virtual absl::Status Read(const io::RandomAccess& file) = 0;
  // Whether a folder's files of this kind go on with each other's curves.
  virtual bool in_sessions() const { return false; }
  // The contents that have been read.
  int64_t offset() const { return offset_; }
  const Findings& found() const { return found_; }
  Findings& found() { return found_; }

 protected:
  // Adds a point to the curve of this name, unless there is no room for another one.
  void AddPoint(std::string_view name, double x, double y);
  // Takes this graph in place of the one before, unless there is no room for it.
  void KeepGraph(std::vector<io::EventGraphNode> nodes);
  // The room that a node takes.
  static int64_t BytesOf(const io::EventGraphNode& node);
  // The part of a name that is kept.
  std::string Name(std::string_view name) const;

  Rooms* const rooms_;
  int64_t offset_ = 0;
  Findings found_;
};

// A follower for a file of this name, or null if the file is of another kind.
std::unique_ptr<Follower> FollowLines(const std::string& file_name, Rooms* rooms);
std::unique_ptr<Follower> FollowEvents(const std::string& file_name, Rooms* rooms);
std::unique_ptr<Follower> FollowGraph(const std::string& file_name, Rooms* rooms);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_FOLLOWER_H_

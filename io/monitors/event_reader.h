#ifndef FIRN_IO_MONITORS_EVENT_READER_H_
#define FIRN_IO_MONITORS_EVENT_READER_H_

// The contents of TensorBoard's event files, Firn's own and others'.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/io/load_limits.h"
#include "firn/io/monitors/event_writer.h"
#include "firn/io/monitors/series.h"

namespace firn::io {

struct EventHistogram {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0;
  // Right edges of the buckets, and how many there are in each: equally many.
  std::vector<double> bucket_limits, buckets;
};

struct EventImage {
  int64_t height = 0, width = 0;
  int64_t colorspace = 0;  // 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  std::string encoded;     // usually PNG; not looked into
};

struct EventScalar {
  std::string tag;
  float value = 0;
};
struct EventText {
  std::string tag, text;  // the tag without the "/text_summary" that writers append
};
struct TaggedHistogram {
  std::string tag;
  EventHistogram histogram;
};
struct TaggedImage {
  std::string tag;
  EventImage image;
};

// One record.
struct Event {
  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
  std::string file_version;     // of the first one
  bool starts_session = false;  // this step and later ones of earlier files are to be left out
  std::vector<EventScalar> scalars;
  std::vector<TaggedHistogram> histograms;
  std::vector<TaggedImage> images;
  std::vector<EventText> texts;
  std::vector<EventGraphNode> graph;
};

struct EventFile {
  std::vector<Event> events;
  int64_t whole_bytes = 0;  // of all whole records
  bool truncated = false;   // a partial record follows them: the writer was killed, or still writes
};

// Reads a file. Scalars, histograms and images of the older style are read, and scalars and text of
// the newer one (tensors with a plugin's name); other values are left out. A partial last record is
// no error. Throws firn::Error: DataLoss, naming file, offset and field, for damaged records and
// messages; ResourceExhausted beyond the limits; NotFound and the like for the path.
EventFile LoadEvents(const std::string& path, const LoadLimits& limits = {});

// The scalars of a file or of all event files of a folder, a series for each tag in the order of
// their first appearance; points are sorted by step, and points that a later session writes again
// are left out. Throws as LoadEvents, and NotFound for a folder without event files.
std::vector<Series> LoadEventSeries(const std::string& path, const LoadLimits& limits = {});

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_EVENT_READER_H_

#ifndef FIRN_TOOLS_FIRN_MONITOR_RUN_CONTENTS_H_
#define FIRN_TOOLS_FIRN_MONITOR_RUN_CONTENTS_H_

// The contents of a folder with a training run, or with several runs in its folders. All text and
// all bytes come from strangers.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/io/monitors/event_reader.h"
#include "tools/firn/monitor/thin_curve.h"

namespace firn::cli {

enum class ChartKind { kLoss, kLearningRate, kTime, kOther };

struct Curve {
  std::string name;       // of the series, as its file has it
  std::string run;        // the folder below the one that is looked at, "" for that one
  bool by_epoch = false;  // its x counts epochs
  ThinCurve points;
};

// The curves of one name, one a run, and with them those whose names differ only in the part of the
// data that they are of, as "training loss" and "validation loss" do.
struct Chart {
  std::string name;  // theirs, or what they have in common
  ChartKind kind = ChartKind::kOther;
  std::vector<Curve> curves = {};  // by run, training before validation before test
};

struct Picture {
  std::string caption;
  std::string type;   // "image/png", "image/jpeg" or "image/svg+xml"
  std::string bytes;  // a file of it, decoded once to see that it can be (but an SVG)
};

struct PictureGroup {
  std::string name;
  std::vector<std::shared_ptr<const Picture>> pictures = {};  // the newest first
  int64_t left_out = 0;                                       // that there are beside them
};

struct HistogramAt {
  int64_t step = 0;
  io::EventHistogram histogram;  // of at most 64 buckets
};
struct HistogramRow {
  std::string name;
  std::vector<HistogramAt> histograms = {};
};

struct TextFound {
  std::string name, text;
  int64_t step = 0;
  bool cut = false;
};

struct GraphFound {
  std::string name;
  std::vector<io::EventGraphNode> nodes;
  bool by_module = false;  // names of nodes begin with the path of their module
};

struct Problem {
  std::string file, what;
};

struct RunContents {
  std::vector<Chart> charts;  // losses first, then rates, others, times; by name within these
  std::vector<PictureGroup> pictures;
  std::vector<HistogramRow> histograms;
  std::vector<TextFound> texts;
  std::vector<GraphFound> graphs;
  std::vector<Problem> problems;  // files that could not be read, or not to the end
  int64_t files = 0;              // that were read
  int64_t passed_over = 0;        // links, folders that are too deep, and files that are too many
  bool beyond_limits = false;     // some of these things found no room, or are too large
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_RUN_CONTENTS_H_

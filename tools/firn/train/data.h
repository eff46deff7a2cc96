#ifndef FIRN_TOOLS_FIRN_TRAIN_DATA_H_
#define FIRN_TOOLS_FIRN_TRAIN_DATA_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/data/dataset.h"
#include "firn/io/graph/graph_info.h"
#include "tools/firn/train/config.h"

namespace firn::cli {

// What a network has to give for a target.
struct TargetOfData {
  int64_t outputs = 0;   // so many numbers
  bool classes = false;  // they are scores of classes
  friend bool operator==(const TargetOfData&, const TargetOfData&) = default;
};

// Inputs are f32. Targets are classes (i64, 0-d) or, for regression, f32 [outputs].
struct TrainingData {
  io::DatasetPtr samples;
  int64_t outputs = 0;                  // numbers that a network has to give
  bool classes = false;                 // they are scores of classes
  std::vector<std::string> names = {};  // of the classes, where they have any
  // Of data with several inputs or targets: how many inputs its samples begin with, of any type,
  // and all of the targets behind them, of which the first is what `outputs` and `classes` say.
  // Else samples are an input and a target.
  int64_t inputs = 1;
  std::vector<TargetOfData> targets = {};
  bool several() const { return !targets.empty(); }
  // Where samples lie in files that are read whole: how many each has. They are then shuffled as
  // io::ShuffleBlocks does.
  std::vector<int64_t> file_rows = {};
  // The words that columns of the inputs stand for, by the columns: other data must have the same.
  std::vector<std::pair<std::string, std::vector<std::string>>> input_words = {};
  // Whether the network begins with nn::Standardize, by what it is trained with, and whether that
  // makes NaN, which stands for cells that are missing, the mean.
  bool standardize = false, fill_missing = false;
  // What stored numbers are before they are these inputs, for whoever has the graph alone; the
  // classes are not in it.
  io::GraphInfo info = {};
};

// What reads the data that `config` describes; nothing is read before it is called. Asks
// for all keys of the description.
struct DataSource {
  std::function<TrainingData()> read;
  bool decodes = false;  // samples take time to make, so that threads should make them
  // How many targets there are, of data with several inputs or targets; 0: an input and a target.
  int64_t several = 0;
};
DataSource ParseData(const Config& config);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_DATA_H_

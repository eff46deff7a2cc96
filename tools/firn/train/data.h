#ifndef FIRN_TOOLS_FIRN_TRAIN_DATA_H_
#define FIRN_TOOLS_FIRN_TRAIN_DATA_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/data/dataset.h"
#include "firn/io/graph/graph_info.h"
#include "firn/tensor/shape.h"
#include "tools/firn/train/config.h"

namespace firn::zoo {
struct Network;
}  // namespace firn::zoo

namespace firn::cli {

// The result that a network must have for a target.
struct TargetOfData {
  int64_t outputs = 0;   // how many numbers
  bool classes = false;  // they are scores of classes
  // The places of a sample that have a class each, such as pixels [height, width]; []: it has one.
  Shape places = {};

  // The shape of the result for a sample: [outputs, places...].
  Shape result() const;
  friend bool operator==(const TargetOfData&, const TargetOfData&) = default;
};

// Inputs are f32. Targets are classes (i64, of the shape of the places) or, for regression, f32
// [outputs].
struct TrainingData {
  io::DatasetPtr samples;
  int64_t outputs = 0;                  // numbers that a network has to give
  bool classes = false;                 // they are scores of classes
  Shape places = {};                    // as of TargetOfData
  std::vector<std::string> names = {};  // of the classes, where they have any
  // For data with several inputs or targets: the number of inputs, of any type, at the beginning of
  // a sample, and the targets behind them; `outputs`, `classes` and `places` describe the first
  // target. Other samples are an input and a target.
  int64_t inputs = 1;
  std::vector<TargetOfData> targets = {};
  bool several() const { return !targets.empty(); }
  TargetOfData target() const { return {outputs, classes, places}; }  // the first one
  // If samples lie in files that are read whole: the number in each file. They are then shuffled as
  // by io::ShuffleBlocks.
  std::vector<int64_t> file_rows = {};
  // The words that columns of the inputs stand for, by the columns: other data must have the same.
  std::vector<std::pair<std::string, std::vector<std::string>>> input_words = {};
  // Whether the network begins with nn::Standardize, fitted to its training data, and whether that
  // replaces NaN, which stands for missing cells, by the mean.
  bool standardize = false, fill_missing = false;
  // How stored numbers become these inputs, for users who have only the graph; it does not name the
  // classes.
  io::GraphInfo info = {};
  // For pictures of any size: a text for people that says what is done with them.
  std::string pictures = {};
};

// Returns a function that reads the data that `config` describes; nothing is read before its call.
// Asks for all keys of the description. `network` is the published one that learns from the data,
// null if it is another: pictures are prepared as it was trained, unless the description says
// otherwise.
struct DataSource {
  std::function<TrainingData()> read;
  bool decodes = false;  // samples take time to make, so that threads should make them
  // The number of targets of data with several inputs or targets; 0: an input and a target.
  int64_t several = 0;
};
DataSource ParseData(const Config& config, const zoo::Network* network);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_DATA_H_

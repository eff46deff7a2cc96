#ifndef FIRN_TOOLS_FIRN_FORWARD_INPUT_H_
#define FIRN_TOOLS_FIRN_FORWARD_INPUT_H_

// The inputs of `firn forward`: pictures, tables and data sets, converted as in the graph's
// training.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firn/io/data/dataset.h"
#include "firn/io/graph/graph_info.h"
#include "firn/tensor/tensor.h"
#include "tools/firn/forward_convert.h"

namespace firn::cli {

struct ForwardOptions {
  std::vector<std::string> data;      // pictures, or one folder, table or data set
  std::string format = "";            // of a data set; "": found by the path
  std::string x = "x";                // the variable of a data set that is the input
  std::optional<std::string> y = {};  // its labels; by default "y" if there is one
  bool labels = true;                 // whether labels are looked for
  bool test = false;                  // of MNIST and CIFAR the test images
  ConversionOptions convert = {};
  bool round = false;           // whole numbers of CSV that f32 does not hold, else errors
  std::string separator = ",";  // of a table
  int64_t skip_lines = 0;
};

struct ForwardInput {
  // Inputs of the dtype and shape that the graph takes, but for its batch; targets are classes, i64
  // [], or undefined. Samples throw firn::Error if they do not fit or were not made for the graph.
  io::DatasetPtr samples;
  std::function<std::string(int64_t i)> name;  // of a sample: its file or number
  bool labelled = false;
  bool files = false;     // whether names are those of files
  std::string note = {};  // a note about it for the user
};

// `batch` is the graph's input, and `info` the meaning of its numbers. Throws firn::Error.
ForwardInput OpenForwardInput(const ForwardOptions& options, const io::GraphInfo& info,
                              const TensorSpec& batch);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_FORWARD_INPUT_H_

#ifndef FIRN_TOOLS_FIRN_TRAIN_DATA_KINDS_H_
#define FIRN_TOOLS_FIRN_TRAIN_DATA_KINDS_H_

#include <cmath>
#include <limits>

#include "tools/firn/train/config.h"
#include "tools/firn/train/data.h"

namespace firn::cli {

// The kinds of data that have a file of their own; each asks for all of its keys.
DataSource ParseCsv(const Config& config);      // columns of a table
DataSource ParseDataset(const Config& config);  // all data sets that firn dataset reads and writes
DataSource ParseHdf5(const Config& config);     // two arrays in a file
DataSource ParseNpy(const Config& config);      // two files with an array each
// Pictures in a folder for each class; `network` as of ParseData.
DataSource ParseImages(const Config& config, const zoo::Network* network);

// Keys for the normalisation of inputs.
inline bool FitsF32(double x) { return std::abs(x) <= std::numeric_limits<float>::max(); }

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_DATA_KINDS_H_

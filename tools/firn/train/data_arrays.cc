// Arrays of an HDF5 file, and two files with an array each.
#include <cstdint>
#include <string>

#include "firn/io/data/hdf5_dataset.h"
#include "firn/io/data/npy_dataset.h"
#include "tools/firn/train/data_kinds.h"
#include "tools/firn/train/data_prepare.h"

namespace firn::cli {

DataSource ParseHdf5(const Config& config) {
  const std::string file = config.Path(config.RequiredText("file"));
  io::Hdf5DatasetOptions options;
  options.input = config.Text("input", options.input);
  options.target = config.Text("target", options.target);
  const ArrayTask task = ParseArrayTask(config, "");
  return {[file, options, task] {
    const io::DatasetPtr raw = io::Hdf5Dataset(file, options);
    return PrepareArrays(
        raw, [&](int64_t i) { return raw->Get(i).target; }, task, file);
  }};
}

DataSource ParseNpy(const Config& config) {
  const std::string input = config.Path(config.RequiredText("input"));
  const std::string target = config.Path(config.RequiredText("target"));
  const ArrayTask task = ParseArrayTask(config, "");
  return {[input, target, task] {
    const io::DatasetPtr targets = io::NpyDataset(target);
    return PrepareArrays(
        io::NpyDataset(input, {.target = target}), [&](int64_t i) { return targets->Get(i).input; },
        task, target);
  }};
}

}  // namespace firn::cli

#ifndef FIRN_TOOLS_FIRN_TRAIN_DATA_PREPARE_H_
#define FIRN_TOOLS_FIRN_TRAIN_DATA_PREPARE_H_

// Converts inputs and targets that come as arrays to those of a training. Their values decide how
// many classes there are, so targets of classes are read before training, once for each, a sample
// at a time; without the inputs where the format allows it.

#include <cstdint>
#include <functional>
#include <string>

#include "firn/io/data/dataset.h"
#include "tools/firn/train/config.h"
#include "tools/firn/train/data.h"

namespace firn::cli {

// How the arrays are converted.
struct ArrayTask {
  std::string name;  // "classes", "numbers", or "": as the dtype of the targets says
  double scale;      // of the inputs
};
ArrayTask ParseArrayTask(const Config& config, const std::string& otherwise);

using TargetOf = std::function<Tensor(int64_t i)>;

// The result that these targets require; `name` is that of the task. Throws firn::Error, naming
// `where` and the sample, for a target that should be a class and is none.
TargetOfData LookAtTargets(int64_t samples, const TargetOf& target_of, const std::string& name,
                           const std::string& where);
// A target as losses take it. Sizes of one in front of places of classes are left out, as of a grey
// picture.
Tensor PreparedTarget(const Tensor& target, bool classes);

// `raw` has inputs and targets of any number type.
TrainingData PrepareArrays(const io::DatasetPtr& raw, const TargetOf& target_of,
                           const ArrayTask& task, const std::string& where);

// The same samples with inputs as i64 ids. Reading one throws firn::Error unless they are whole
// numbers below `count`.
io::DatasetPtr AsIds(const io::DatasetPtr& samples, int64_t count);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_DATA_PREPARE_H_

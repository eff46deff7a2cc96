#ifndef FIRN_IO_DATA_COLLATE_H_
#define FIRN_IO_DATA_COLLATE_H_

// Batches of samples that differ in size:
//
//   io::DataLoader train(io::CsvRows("boxes.csv"),
//                        {.batch = 8, .collate = io::PadTo({.name = "boxes", .value = -1})});
//   for (auto [image, boxes, labels, boxes_length] : train.As<4>()) ...

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "firn/io/data/sample.h"

namespace firn::io {

// A function that makes a batch of at least one sample, for DataLoaderOptions::collate. Stack is
// one. Thread-safe.
using Collate = std::function<Sample(absl::Span<const Sample> samples)>;

struct PadToOptions {
  std::string name = "input";  // of the tensor (Sample::variables)
  double value = 0;            // the number that is added; its dtype must hold it
  // The length of all; 0: that of the longest in the batch. A frozen step (FitOptions::frozen)
  // needs batches of one size, since it is made anew for another size.
  int64_t size = 0;
  bool lengths = true;  // adds a tensor of how long each was
};

// Batches whose tensor of this name is padded at the end of its first dimension; the others are
// stacked as by Stack.
//   <name>         N of [length, ...]    [N, size or the longest, ...]
//   <name>_length                        i64 [N], behind all others
// Recurrent layers take a padded tensor packed by its lengths: PackPaddedSequence(batch["x"],
// batch["x_length"], {.batch_first = true, .enforce_sorted = false}).
// Throws if the size is negative. The function throws if a sample has no tensor of this name, or
// one that is 0-d, longer than `size` or unlike the first one in dtype or its other dimensions; if
// a tensor has the lengths' name already; and as Stack.
Collate PadTo(const PadToOptions& options = {});
// The same of several tensors, none of them twice; their lengths follow in this order.
Collate PadTo(const std::vector<PadToOptions>& options);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_COLLATE_H_

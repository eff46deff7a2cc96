#ifndef FIRN_IO_DATA_DIGITS_H_
#define FIRN_IO_DATA_DIGITS_H_

#include "firn/io/data/dataset.h"

namespace firn::io {

struct DigitsOptions {
  enum class Part {
    kAll,    // 1,797 images
    kTrain,  // the first 1,500
    kTest,   // the last 297
  };
  Part part = Part::kAll;
  // Inputs are (pixel / 16 - mean) / stddev.
  double mean = 0;
  double stddev = 1;
};

// Handwritten digits of 8x8 pixels with 17 shades (io/data/README.md says where they come from).
// The data is part of the program, so no file is looked for. Samples: image f32 [1, 8, 8], label
// i64
// [].
DatasetPtr Digits(const DigitsOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_DIGITS_H_

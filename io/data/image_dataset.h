#ifndef FIRN_IO_DATA_IMAGE_DATASET_H_
#define FIRN_IO_DATA_IMAGE_DATASET_H_

#include <string>

#include "firn/io/data/dataset.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// How stored pixels become inputs: (pixel / scale - mean) / stddev.
struct PixelOptions {
  double scale = 255;  // the pixel value that becomes 1
  double mean = 0;
  double stddev = 1;
};

// Images kept as bytes: `pixels` u8 [n, channels, height, width], `labels` i64 [n]. Samples are f32
// [channels, height, width] and i64 []; a batch is converted in one pass over its pixels.
// Throws firn::Error, InvalidArgument, when the tensors are not of that form, scale or stddev is
// not a positive number, or mean is not finite.
DatasetPtr MakeImageDataset(const Tensor& pixels, const Tensor& labels,
                            const PixelOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_IMAGE_DATASET_H_

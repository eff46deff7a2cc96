#ifndef FIRN_IO_DATA_MNIST_H_
#define FIRN_IO_DATA_MNIST_H_

#include <string>

#include "firn/io/data/dataset.h"

namespace firn::io {

struct MnistOptions {
  bool train = true;  // the 60,000 training images, else the 10,000 test images
  // Inputs are (pixel / 255 - mean) / stddev.
  double mean = 0;
  double stddev = 1;
};

// MNIST, Fashion-MNIST and others in MNIST's four files, which lie in `directory` as
// train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
// t10k-labels-idx1-ubyte, with or without ".gz". Samples: image f32 [1, 28, 28], label i64 [].
// Throws firn::Error when a file is missing or damaged, InvalidArgument for an IDX file of another
// kind; io/data/mnist_status.h has it with a status.
DatasetPtr Mnist(const std::string& directory, const MnistOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_MNIST_H_

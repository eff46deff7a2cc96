#ifndef FIRN_IO_DATA_CIFAR_H_
#define FIRN_IO_DATA_CIFAR_H_

// CIFAR-10 and CIFAR-100 in their binary versions, unpacked.

#include <string>

#include "firn/io/data/dataset.h"

namespace firn::io {

struct CifarOptions {
  bool train = true;           // the 50,000 training images, else the 10,000 test images
  bool coarse_labels = false;  // CIFAR-100's 20 classes instead of its 100
  // Inputs are (pixel / 255 - mean) / stddev.
  double mean = 0;
  double stddev = 1;
};

// The files data_batch_1.bin to data_batch_5.bin or test_batch.bin in `directory`, each with or
// without ".gz". Samples: image f32 [3, 32, 32], label i64 []. Throws firn::Error when a file is
// missing or damaged.
DatasetPtr Cifar10(const std::string& directory, const CifarOptions& options = {});

// The same of train.bin or test.bin.
DatasetPtr Cifar100(const std::string& directory, const CifarOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_CIFAR_H_

#ifndef FIRN_IO_DATA_MNIST_STATUS_H_
#define FIRN_IO_DATA_MNIST_STATUS_H_

#include <string>

#include "absl/status/statusor.h"
#include "firn/io/data/mnist.h"

namespace firn::io {

// Mnist with a status.
absl::StatusOr<DatasetPtr> TryMnist(const std::string& directory, const MnistOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_MNIST_STATUS_H_

#ifndef FIRN_IO_DATA_CIFAR_STATUS_H_
#define FIRN_IO_DATA_CIFAR_STATUS_H_

#include <string>

#include "absl/status/statusor.h"
#include "firn/io/data/cifar.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// Cifar10 and Cifar100 with a status.
absl::StatusOr<DatasetPtr> TryCifar10(const std::string& directory,
                                      const CifarOptions& options = {});
absl::StatusOr<DatasetPtr> TryCifar100(const std::string& directory,
                                       const CifarOptions& options = {});

// The contents of one file.
struct CifarRecords {
  Tensor labels;  // i64 [n], CIFAR-100's finer ones
  Tensor images;  // u8 [n, 3, 32, 32]
};

// The records of a file, packed by gzip or not, of `labels` labels each: 1 in CIFAR-10, 2 in
// CIFAR-100. DataLoss, naming file and offset, for a damaged one, ResourceExhausted beyond 1 GiB.
absl::StatusOr<CifarRecords> TryReadCifarRecords(const std::string& path, int labels);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_CIFAR_STATUS_H_

#ifndef FIRN_IO_CIFAR_STATUS_H_
#define FIRN_IO_CIFAR_STATUS_H_

#include <string>

#include "absl/status/statusor.h"
#include "io/cifar.h"

namespace firn::io {

// Cifar10 and Cifar100 with a status.
absl::StatusOr<DatasetPtr> ReadCifar10(const std::string& directory,
                                       const CifarOptions& options = {});
absl::StatusOr<DatasetPtr> ReadCifar100(const std::string& directory,
                                        const CifarOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_CIFAR_STATUS_H_

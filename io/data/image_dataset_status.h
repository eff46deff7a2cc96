#ifndef FIRN_IO_DATA_IMAGE_DATASET_STATUS_H_
#define FIRN_IO_DATA_IMAGE_DATASET_STATUS_H_

#include "absl/status/statusor.h"
#include "firn/io/data/image_dataset.h"

namespace firn::io {

// MakeImageDataset with a status.
absl::StatusOr<DatasetPtr> TryMakeImageDataset(const Tensor& pixels, const Tensor& labels,
                                               const PixelOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_IMAGE_DATASET_STATUS_H_

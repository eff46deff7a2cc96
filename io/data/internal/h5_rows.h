#ifndef FIRN_IO_DATA_INTERNAL_H5_ROWS_H_
#define FIRN_IO_DATA_INTERNAL_H5_ROWS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "firn/io/data/internal/row_source.h"
#include "firn/io/load_limits.h"

namespace firn::io::internal {

// The rows of a dataset of an HDF5 file, which may be larger than memory; `name` as state dicts
// have it. If the dataset has chunks, those around the rows read last are kept, unpacked. Errors as
// of ReadH5; NotFound where there is none of that name, Unimplemented for a single number and for
// rows without elements, ResourceExhausted for rows of more than `max_row_bytes` and if the chunks
// in memory would take more than `limits.max_total_bytes`.
absl::StatusOr<std::unique_ptr<RowSource>> OpenH5Rows(const std::string& path,
                                                      const std::string& name,
                                                      const LoadLimits& limits,
                                                      int64_t max_row_bytes);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_H5_ROWS_H_

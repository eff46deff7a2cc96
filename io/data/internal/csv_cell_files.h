#ifndef FIRN_IO_DATA_INTERNAL_CSV_CELL_FILES_H_
#define FIRN_IO_DATA_INTERNAL_CSV_CELL_FILES_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/data/csv_rows.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// "s3" of "s3://bucket/x.png"; empty for a path.
std::string_view SchemeOf(std::string_view text);

// Whether a cell that is no number may be a path, by the rules of CsvRows; the file need not exist.
// `outside` is the advice for paths out of the folder.
absl::Status CheckCellPath(const std::string& name, const CsvRowsOptions& options,
                           const std::string& outside);

// The tensor in the file that a cell names; `folder` is "" or the CSV's folder with a slash at its
// end. A table in it becomes `dtype`.
absl::StatusOr<Tensor> ReadCellFile(const std::string& folder, std::string name, DType dtype,
                                    const CsvRowsOptions& options, const std::string& outside);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_CSV_CELL_FILES_H_

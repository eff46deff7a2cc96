#ifndef FIRN_IO_CSV_CSV_STATUS_H_
#define FIRN_IO_CSV_CSV_STATUS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/csv/csv.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// The names of options and the advice in messages. A tool whose users write a file instead of a
// program has its own.
struct CsvWording {
  std::string columns = "CsvOptions::columns";
  std::string categories = "CsvOptions::categories";
  std::string one_hot = "CsvOptions::one_hot";
  std::string dtypes = "CsvOptions::dtypes";
  std::string words = "LoadCsvWords";  // the function that asks for the words of a column
  // The advice for a cell that is no number, an empty cell, and a number that would be rounded.
  std::string no_number = "CsvOptions::categories reads words, ::columns leaves columns out";
  std::string missing = "CsvOptions::missing says what missing cells become";
  std::string inexact = "CsvOptions::dtype takes wider types, ::round the nearest number";
};

// LoadCsv with a status.
absl::StatusOr<Tensor> TryLoadCsv(const std::string& path, const CsvOptions& options = {},
                                  const CsvWording& wording = {});

// LoadCsvColumns with a status.
absl::StatusOr<StateDict> TryLoadCsvColumns(const std::string& path,
                                            const CsvOptions& options = {});

// LoadCsvWords with a status.
absl::StatusOr<std::vector<std::string>> TryLoadCsvWords(const std::string& path,
                                                         const CsvColumn& column,
                                                         const CsvOptions& options = {},
                                                         const CsvWording& wording = {});

// LoadCsvNames with a status.
absl::StatusOr<std::vector<std::string>> TryLoadCsvNames(const std::string& path,
                                                         const CsvOptions& options = {});

// TryLoadCsv of text in memory; `name` stands for the path in messages.
absl::StatusOr<Tensor> TryParseCsv(const std::string& text, const std::string& name,
                                   const CsvOptions& options = {}, const CsvWording& wording = {});

// TryLoadCsvColumns of text in memory.
absl::StatusOr<StateDict> TryParseCsvColumns(const std::string& text, const std::string& name,
                                             const CsvOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_CSV_CSV_STATUS_H_

#ifndef FIRN_IO_MONITORS_RECORD_READER_H_
#define FIRN_IO_MONITORS_RECORD_READER_H_

#include <string>
#include <vector>

#include "firn/io/load_limits.h"
#include "firn/io/monitors/record_writer.h"
#include "firn/io/monitors/series.h"

namespace firn::io {

// Records of named values. Each row has one value for each column, nothing (kNone) where the record
// had none.
struct Records {
  std::vector<std::string> columns;
  std::vector<std::vector<RecordValue>> rows;
};

// Reads a file of CsvWriter or JsonLinesWriter, by the path's ending (.csv, .jsonl). The columns of
// a .csv whose first record has a number in it, and so is no heading, are named "0", "1", ... A
// partial last record is left out. Throws firn::Error: DataLoss names file and record, what was
// expected and what came; InvalidArgument for another ending; ResourceExhausted beyond the limits
// (of a table with a value for each column and record); NotFound and the like for the path.
Records LoadRecords(const std::string& path, const LoadLimits& limits = {});

// A series for each column that holds numbers, the first one being the x of all; rows without a
// number are left out of a series.
std::vector<Series> SeriesOf(const Records& records);

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_RECORD_READER_H_

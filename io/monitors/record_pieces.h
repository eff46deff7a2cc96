#ifndef FIRN_IO_MONITORS_RECORD_PIECES_H_
#define FIRN_IO_MONITORS_RECORD_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "firn/io/random_access.h"

namespace firn::io {

// Calls `take` with each whole record of a text file from *offset on, and moves *offset behind the
// last one that was taken. `split` gives the length of the first whole record of a text, 0 when
// there is none. A piece of the file is in memory at a time, however long the file; a partial last
// record is left. Errors: those of `take`, with file and offset before them; ResourceExhausted for
// a record of more than `most` bytes.
absl::Status ForEachRecord(const RandomAccess& file, int64_t most,
                           absl::FunctionRef<size_t(std::string_view)> split,
                           absl::FunctionRef<absl::Status(std::string_view record)> take,
                           int64_t* offset);

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_RECORD_PIECES_H_

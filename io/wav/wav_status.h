#ifndef FIRN_IO_WAV_WAV_STATUS_H_
#define FIRN_IO_WAV_WAV_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/wav/wav.h"

namespace firn::io {

// ReadWav of bytes in memory with a status; `name` stands for the path in messages.
absl::StatusOr<Wave> TryParseWav(std::string_view bytes, const std::string& name,
                                 const LoadLimits& limits = {});

}  // namespace firn::io

#endif  // FIRN_IO_WAV_WAV_STATUS_H_

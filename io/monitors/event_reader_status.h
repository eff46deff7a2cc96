#ifndef FIRN_IO_MONITORS_EVENT_READER_STATUS_H_
#define FIRN_IO_MONITORS_EVENT_READER_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/monitors/event_reader.h"

namespace firn::io {

// LoadEvents with a status.
absl::StatusOr<EventFile> TryReadEvents(const std::string& path, const LoadLimits& limits = {});

// The same for a file in memory; `name` stands for the path in messages.
absl::StatusOr<EventFile> TryParseEvents(std::string_view bytes, const std::string& name,
                                         const LoadLimits& limits = {});

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_EVENT_READER_STATUS_H_

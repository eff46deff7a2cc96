#ifndef FIRN_IO_MONITORS_EVENT_MESSAGES_H_
#define FIRN_IO_MONITORS_EVENT_MESSAGES_H_

#include <string_view>

#include "absl/status/status.h"
#include "firn/io/monitors/event_reader.h"

namespace firn::io {

// Adds to `event` what a message Event of TensorFlow's event.proto holds. DataLoss names the
// message within it, the offset within that and the field.
absl::Status ReadEvent(std::string_view message, Event* event);

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_EVENT_MESSAGES_H_

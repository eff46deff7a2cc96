#include "tests/fuzz/monitors/messages.h"

#include <optional>

#include "firn/io/monitors/tfrecord.h"
#include "firn/io/random_access.h"

namespace firn::testing {

std::vector<std::string> EventMessages(const std::string& path) {
  const auto file = *io::RandomAccess::Open(path);
  io::RecordReader reader(*file);
  std::vector<std::string> messages;
  for (;;) {
    const std::optional<std::string> message = *reader.Next(1 << 20);
    if (!message.has_value()) return messages;
    messages.push_back(*message);
  }
}

}  // namespace firn::testing

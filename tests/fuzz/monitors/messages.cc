#include "tests/fuzz/monitors/messages.h"

#include <optional>

#include "firn/io/internal/random_access.h"
#include "firn/io/monitors/internal/records.h"

namespace firn::testing {

std::vector<std::string> EventMessages(const std::string& path) {
  const auto file = *io::internal::RandomAccess::Open(path);
  io::internal::RecordReader reader(*file);
  std::vector<std::string> messages;
  for (;;) {
    const std::optional<std::string> message = *reader.Next(1 << 20);
    if (!message.has_value()) return messages;
    messages.push_back(*message);
  }
}

}  // namespace firn::testing

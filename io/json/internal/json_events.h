#ifndef FIRN_IO_JSON_INTERNAL_JSON_EVENTS_H_
#define FIRN_IO_JSON_INTERNAL_JSON_EVENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace firn::io::internal {

// Receives the parts of a JSON text in their order. The reader keeps none of them, so a hostile
// file takes only the memory that the events keep. A status that is not OK ends the reading and
// becomes its result.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;

  virtual absl::Status BeginObject() = 0;
  virtual absl::Status Key(std::string name) = 0;  // of what follows; may come twice
  virtual absl::Status EndObject() = 0;
  virtual absl::Status BeginArray() = 0;
  virtual absl::Status EndArray() = 0;
  virtual absl::Status String(std::string text) = 0;  // escapes resolved, valid UTF-8
  // Whole numbers up to 2^64 - 1; numbers that are negative, larger, or have a point or an exponent
  // come as Number.
  virtual absl::Status Whole(uint64_t value) = 0;
  virtual absl::Status Number(double value, std::string_view text) = 0;
  virtual absl::Status Bool(bool value) = 0;
  virtual absl::Status Null() = 0;
};

// Reads `text`, which must be one value by RFC 8259: UTF-8 without a byte order mark, no comments,
// no commas before closing brackets, no NaN. DataLoss otherwise, "byte 12: expected ..., got ...";
// ResourceExhausted where brackets stand in more than `max_depth` others.
absl::Status ReadJson(std::string_view text, int max_depth, JsonEvents* events);

}  // namespace firn::io::internal

#endif  // FIRN_IO_JSON_INTERNAL_JSON_EVENTS_H_

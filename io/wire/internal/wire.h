#ifndef FIRN_IO_WIRE_INTERNAL_WIRE_H_
#define FIRN_IO_WIRE_INTERNAL_WIRE_H_

// Protocol buffers' encoding (protobuf.dev/programming-guides/encoding) for messages that are
// written and read by hand: a message is a row of fields, each a number, a type and a value.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace firn::io::internal {

// A message under construction. Thread-compatible.
class WireWriter {
 public:
  WireWriter& Integer(int field, int64_t value);  // int32, int64, bool, enums
  WireWriter& Float(int field, float value);
  WireWriter& Double(int field, double value);
  WireWriter& Bytes(int field, std::string_view value);  // strings too
  WireWriter& Message(int field, const WireWriter& value) { return Bytes(field, value.bytes()); }
  WireWriter& PackedDoubles(int field, const std::vector<double>& values);
  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(uint64_t value);
  void Fixed(uint64_t value, int bytes);

  std::string bytes_;
};

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  int number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;      // of all but kBytes
  std::string_view bytes;  // of kBytes: a part of the message
  size_t offset = 0;       // of the value within the message

  float AsFloat() const;
  double AsDouble() const;
};

// Goes through the fields of a message, which must outlive it. Thread-compatible.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : message_(message) {}
  bool AtEnd() const { return at_ == message_.size(); }
  // DataLoss for what is no field: "offset 12: expected ..., got ...", counted from the beginning
  // of the message. Groups, which nobody has written for long, are refused.
  absl::StatusOr<WireField> Next();

 private:
  absl::Status Varint(uint64_t* value);
  absl::Status Fixed(int bytes, uint64_t* value);

  std::string_view message_;
  size_t at_ = 0;
};

// All doubles of a packed field, appended, or the one of a field that is not packed.
absl::Status AppendDoubles(const WireField& field, std::vector<double>* out);

}  // namespace firn::io::internal

#endif  // FIRN_IO_WIRE_INTERNAL_WIRE_H_

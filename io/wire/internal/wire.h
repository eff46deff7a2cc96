#ifndef FIRN_IO_WIRE_INTERNAL_WIRE_H_
#define FIRN_IO_WIRE_INTERNAL_WIRE_H_

// Protocol buffers' encoding (protobuf.dev/programming-guides/encoding) for messages that are
// written and read by hand: a message is a row of fields, each a number, a type and a value.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
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
  std::string Take() && { return std::move(bytes_); }

  // Reserves memory, so that large messages are not moved while they grow.
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }

  // Writes an inner message in place: everything until End, which takes the result of Begin. Unlike
  // Message it does not copy a large message.
  size_t Begin(int field);
  void End(size_t begun);

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
  size_t offset = 0;       // of the value, from where the reader counts

  float AsFloat() const;
  double AsDouble() const;
};

// Goes through the fields of a message, which must outlive it. Thread-compatible.
class WireReader {
 public:
  // `base` is where the message begins in the file, if offsets are to count from the file's start.
  explicit WireReader(std::string_view message, size_t base = 0) : message_(message), base_(base) {}
  bool AtEnd() const { return at_ == message_.size(); }
  // DataLoss for bytes that are no field: "offset 12: expected ..., got ...", counted from `base`
  // on. Groups, which have long been out of use, are refused, and so are tags and lengths of more
  // than five bytes, as the libraries do.
  absl::StatusOr<WireField> Next();

 private:
  friend absl::Status ForEachNumber(const WireField& field, WireType type,
                                    absl::FunctionRef<absl::Status(uint64_t)> take);

  absl::Status Varint(uint64_t* value, int most_bytes = 10);
  absl::Status Fixed(int bytes, uint64_t* value);

  std::string_view message_;
  size_t base_;
  size_t at_ = 0;
};

// Calls `take` with the numbers of a repeated field, each of wire type `type`, which may be packed
// or single: writers do either, and readers accept any mix of both.
absl::Status ForEachNumber(const WireField& field, WireType type,
                           absl::FunctionRef<absl::Status(uint64_t)> take);

// All doubles of a packed field, appended, or the one of a field that is not packed.
absl::Status AppendDoubles(const WireField& field, std::vector<double>* out);

}  // namespace firn::io::internal

#endif  // FIRN_IO_WIRE_INTERNAL_WIRE_H_

#ifndef FIRN_IO_NNABLA_MODEL_INTERNAL_PROTO_READING_H_
#define FIRN_IO_NNABLA_MODEL_INTERNAL_PROTO_READING_H_

// Shared by the readers of texts and of bytes: the fields read so far, the present place, and what
// the limits leave.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/load_limits.h"
#include "firn/io/nnabla_model/internal/proto_type.h"

namespace firn::io::internal {

// The fields of one message that have been read, and likewise those of its inner messages, which
// may come in several pieces that form one.
struct ProtoSeen {
  std::vector<const ProtoField*> fields;
  std::map<const ProtoField*, ProtoSeen> pieces;
};

// Tells the present place, "line 3, column 5"; called only for errors, since lines must be counted.
using ProtoPlace = absl::FunctionRef<std::string()>;

class ProtoReading {
 public:
  // `limits` must outlive it. `name` is that of the file in errors.
  ProtoReading(std::string name, const LoadLimits& limits);

  // A message in the field of another one: between Enter and Leave errors name the field, too.
  // ResourceExhausted beyond the limits.
  absl::Status Enter(const ProtoField& field);
  void Leave() { path_.pop_back(); }
  // Charges memory that the file makes the reader keep.
  absl::Status Charge(size_t bytes);
  // Checks a text that is a name, a path or a word.
  absl::Status CheckString(ProtoPlace place, const ProtoField& field, std::string_view text);
  // Takes note of a field. DataLoss where the message cannot have one more.
  absl::Status Take(ProtoPlace place, const ProtoField& field, ProtoSeen* seen);

  // "net.nntxt: line 3, column 5, network.name: expected ..., got ...".
  absl::Status Damaged(const std::string& place, std::string_view field,
                       const std::string& what) const;

 private:
  std::string Where(const std::string& place, std::string_view field) const;

  const std::string name_;
  const LoadLimits& limits_;
  int64_t left_;
  std::vector<std::string_view> path_;
};

// Reads a message of `type` in the text format (protobuf.dev/reference/protobuf/textformat-spec)
// into `message`, as NNabla does, but refuses input at which NNabla guesses: scalars, and members
// of one oneof, that come twice. Extensions, `Any` and numbers in place of names are not supported.
// Errors: DataLoss, ResourceExhausted beyond the limits.
absl::Status ReadProtoText(std::string_view text, const std::string& name, const ProtoType& type,
                           const LoadLimits& limits, void* message);

// The same of binary messages; fields that the type does not have are refused.
absl::Status ReadProtoBytes(std::string_view bytes, const std::string& name, const ProtoType& type,
                            const LoadLimits& limits, void* message);

// The text of a message as Python's protobuf prints it; fields that are 0, false, "" or empty are
// left out. Requires: strings are UTF-8.
std::string WriteProtoText(const ProtoType& type, const void* message);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_MODEL_INTERNAL_PROTO_READING_H_

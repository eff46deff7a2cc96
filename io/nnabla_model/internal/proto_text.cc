#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/internal/proto_reading.h"
#include "firn/io/nnabla_model/internal/proto_tokens.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;

std::string Got(const ProtoToken& token) {
  constexpr size_t kShown = 40;
  if (token.kind == ProtoToken::kEnd) return "the end";
  return JsonString(token.text.substr(0, kShown));
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& name, const LoadLimits& limits)
      : tokens_(text), reading_(name, limits) {}

  // Fields up to the mark `close`, which is taken; 0: to the end. Calls itself no deeper than types
  // go.
  absl::Status Message(const ProtoType& type, void* message, char close, ProtoSeen* seen) {
    while (close != '\0' ? !tokens_.TakeIf(close) : tokens_.now().kind != ProtoToken::kEnd) {
      FIRN_RETURN_IF_ERROR(Field(type, message, close, seen));
      if (!tokens_.TakeIf(',')) tokens_.TakeIf(';');
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Expected(const ProtoToken& token, std::string_view field, std::string_view what) {
    return reading_.Damaged(tokens_.PlaceOf(token.at), field,
                            absl::StrCat("expected ", std::string(what), ", got ", Got(token)));
  }

  absl::Status Field(const ProtoType& type, void* message, char close, ProtoSeen* seen) {
    const ProtoToken name = tokens_.Take();
    if (name.kind != ProtoToken::kName) {
      return Expected(name, "",
                      close == '\0' ? "a field's name"
                                    : absl::StrCat("a field's name or ", std::string(1, close)));
    }
    const ProtoField* field = type.Find(name.text);
    if (field == nullptr) {
      return Expected(name, "", absl::StrCat("a field of ", std::string(type.name)));
    }
    if (!field->repeated) {
      FIRN_RETURN_IF_ERROR(reading_.Take([&] { return tokens_.PlaceOf(name.at); }, *field, seen));
    }
    const bool colon = tokens_.TakeIf(':');
    FIRN_RETURN_IF(!colon && field->kind != ProtoKind::kMessage,
                   Expected(tokens_.now(), field->name, "a colon"));
    if (!field->repeated || !tokens_.TakeIf('[')) return One(*field, message, seen);
    if (tokens_.TakeIf(']')) return absl::OkStatus();
    while (true) {
      FIRN_RETURN_IF_ERROR(One(*field, message, seen));
      if (tokens_.TakeIf(']')) return absl::OkStatus();
      FIRN_RETURN_IF(!tokens_.TakeIf(','), Expected(tokens_.now(), field->name, "a comma or ]"));
    }
  }

  absl::Status One(const ProtoField& field, void* message, ProtoSeen* seen) {
    if (field.kind != ProtoKind::kMessage) return Scalar(field, field.open(message, field));
    const ProtoToken open = tokens_.Take();
    FIRN_RETURN_IF(!open.Is('{') && !open.Is('<'), Expected(open, field.name, "{"));
    FIRN_RETURN_IF_ERROR(reading_.Enter(field));
    ProtoSeen own;
    FIRN_RETURN_IF_ERROR(Message(*field.type, field.open(message, field), open.Is('{') ? '}' : '>',
                                 field.repeated ? &own : &seen->pieces[&field]));
    reading_.Leave();
    return absl::OkStatus();
  }

  absl::Status Scalar(const ProtoField& field, void* out) {
    if (field.repeated && field.kind == ProtoKind::kInt64) {
      FIRN_RETURN_IF_ERROR(reading_.Charge(sizeof(int64_t)));
    }
    switch (field.kind) {
      case ProtoKind::kString:
        return String(field, out);
      case ProtoKind::kBool:
        return Bool(field, out);
      case ProtoKind::kInt64:
      case ProtoKind::kUint32:
        return Whole(field, out);
      default:
        return Real(field, out);
    }
  }

  absl::Status String(const ProtoField& field, void* out) {
    const ProtoToken first = tokens_.now();
    FIRN_RETURN_IF(first.kind != ProtoToken::kString, Expected(first, field.name, "a string"));
    std::string all;
    while (tokens_.now().kind == ProtoToken::kString) {
      const ProtoToken token = tokens_.Take();
      const absl::StatusOr<std::string> piece = ProtoUnquote(token.text);
      FIRN_RETURN_IF(!piece.ok(), reading_.Damaged(tokens_.PlaceOf(token.at), field.name,
                                                   std::string(piece.status().message())));
      all += *piece;
    }
    FIRN_RETURN_IF_ERROR(
        reading_.CheckString([&] { return tokens_.PlaceOf(first.at); }, field, all));
    Put(field, std::move(all), out);
    return absl::OkStatus();
  }

  absl::Status Bool(const ProtoField& field, void* out) {
    const ProtoToken token = tokens_.Take();
    for (const std::string_view word : {"true", "True", "t", "1", "false", "False", "f", "0"}) {
      if (token.text != word) continue;
      *static_cast<bool*>(out) = word[0] == 't' || word[0] == 'T' || word[0] == '1';
      return absl::OkStatus();
    }
    return Expected(token, field.name, "true or false");
  }

  absl::Status Whole(const ProtoField& field, void* out) {
    const bool minus = tokens_.TakeIf('-');
    const ProtoToken token = tokens_.Take();
    const std::optional<uint64_t> value =
        token.kind == ProtoToken::kNumber ? ProtoWhole(token.text) : std::nullopt;
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (field.kind == ProtoKind::kUint32) {
      FIRN_RETURN_IF(!value || *value > std::numeric_limits<uint32_t>::max() || minus,
                     Expected(token, field.name, "a whole number from 0 to 2^32 - 1"));
      Put(field, static_cast<uint32_t>(*value), out);
      return absl::OkStatus();
    }
    FIRN_RETURN_IF(!value || *value > kMost + (minus ? 1 : 0),
                   Expected(token, field.name, "a whole number from -2^63 to 2^63 - 1"));
    Put(field, static_cast<int64_t>(minus ? 0 - *value : *value), out);
    return absl::OkStatus();
  }

  absl::Status Real(const ProtoField& field, void* out) {
    const bool minus = tokens_.TakeIf('-');
    const ProtoToken token = tokens_.Take();
    const bool word = token.kind == ProtoToken::kNumber || token.kind == ProtoToken::kName;
    const std::optional<double> value = word ? ProtoReal(token.text) : std::nullopt;
    FIRN_RETURN_IF(!value, Expected(token, field.name, "a number"));
    const double real = minus ? -*value : *value;
    if (field.kind == ProtoKind::kFloat) {
      Put(field, static_cast<float>(real), out);
    } else {
      Put(field, real, out);
    }
    return absl::OkStatus();
  }

  template <class T>
  static void Put(const ProtoField& field, T value, void* out) {
    if (field.repeated) {
      static_cast<std::vector<T>*>(out)->push_back(std::move(value));
    } else {
      *static_cast<T*>(out) = std::move(value);
    }
  }

  ProtoTokens tokens_;
  ProtoReading reading_;
};

}  // namespace

absl::Status ReadProtoText(std::string_view text, const std::string& name, const ProtoType& type,
                           const LoadLimits& limits, void* message) {
  const int64_t most = std::min<int64_t>(limits.max_metadata_bytes, int64_t{1} << 26);
  FIRN_RETURN_IF(static_cast<int64_t>(text.size()) > most,
                 ResourceExhausted(name, ": a text of more than the ", most,
                                   " bytes allowed (limits.max_metadata_bytes, at most 2^26)"));
  Reader reader(text, name, limits);
  ProtoSeen seen;
  return reader.Message(type, message, '\0', &seen);
}

}  // namespace firn::io::internal

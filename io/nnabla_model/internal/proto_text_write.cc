#include <charconv>
#include <cmath>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/io/nnabla_model/internal/proto_reading.h"

namespace firn::io::internal {
namespace {

// The text for a byte of a string, as Python's printer writes it: bytes beyond ASCII in octal.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view kBytes = "\n\r\t\"'\\", kLetters = "nrt\"'\\";
    const auto byte = static_cast<unsigned char>(c);
    if (const size_t known = kBytes.find(c); known != kBytes.npos) {
      out += {'\\', kLetters[known]};
    } else if (byte >= 32 && byte < 127) {
      out += c;
    } else {
      out += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
              static_cast<char>('0' + (byte & 7))};
    }
  }
  return out + '"';
}

// The shortest decimal number that is read as this one.
template <class T>
std::string Real(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[32];
  const std::to_chars_result end = std::to_chars(std::begin(text), std::end(text), value);
  return std::string(text, end.ptr);
}

std::string Text(const std::string& value) { return Quoted(value); }
std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(int64_t value) { return absl::StrCat(value); }
std::string Text(uint32_t value) { return absl::StrCat(value); }
std::string Text(float value) { return Real(value); }
std::string Text(double value) { return Real(value); }

// Minus zero is a value of its own.
template <class T>
bool IsZero(const T& value) {
  if constexpr (std::is_floating_point_v<T>) return value == 0 && !std::signbit(value);
  return value == T{};
}

class Writer {
 public:
  void Message(const ProtoType& type, const void* message) {
    for (const ProtoField& field : type.fields) {
      if (field.kind == ProtoKind::kMessage) {
        for (size_t i = 0; const void* child = field.at(message, field, i); ++i) {
          absl::StrAppend(&out_, Indent(), std::string(field.name), " {\n");
          ++depth_;
          Message(*field.type, child);
          --depth_;
          absl::StrAppend(&out_, Indent(), "}\n");
          if (!field.repeated) break;
        }
        continue;
      }
      const void* member = field.at(message, field, 0);
      switch (field.kind) {
        case ProtoKind::kInt64:
          Scalars<int64_t>(field, member);
          break;
        case ProtoKind::kUint32:
          Scalars<uint32_t>(field, member);
          break;
        case ProtoKind::kFloat:
          Scalars<float>(field, member);
          break;
        case ProtoKind::kDouble:
          Scalars<double>(field, member);
          break;
        case ProtoKind::kString:
          Scalars<std::string>(field, member);
          break;
        default:
          One(field, *static_cast<const bool*>(member), false);
          break;
      }
    }
  }

  std::string out() && { return std::move(out_); }

 private:
  std::string Indent() const { return std::string(static_cast<size_t>(2 * depth_), ' '); }

  template <class T>
  void Scalars(const ProtoField& field, const void* member) {
    if (!field.repeated) return One(field, *static_cast<const T*>(member), false);
    for (const T& value : *static_cast<const std::vector<T>*>(member)) One(field, value, true);
  }

  template <class T>
  void One(const ProtoField& field, const T& value, bool zero_too) {
    if (!zero_too && IsZero(value)) return;
    absl::StrAppend(&out_, Indent(), std::string(field.name), ": ", Text(value), "\n");
  }

  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string WriteProtoText(const ProtoType& type, const void* message) {
  Writer writer;
  writer.Message(type, message);
  return std::move(writer).out();
}

}  // namespace firn::io::internal

// The header of .npy (numpy.lib.format):
//   offset 0   "\x93NUMPY"
//   offset 6   u8 major 1 to 3, u8 minor 0
//   offset 8   u16 (version 1) or u32 length of the text, little-endian
//   then       a Python dict of exactly 'descr', 'fortran_order' and 'shape', and white space
// Only these are read: quoted strings without escapes, True, False, and tuples of numbers. A descr
// that is a list describes a structure, which NumPy has and we do not read; its error differs from
// that for damage.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/npy/internal/npy_array.h"

namespace firn::io::internal {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr int64_t kMaxHeader = 10'000;  // NumPy's own limit

struct Fields {
  std::string descr;  // empty: not seen yet
  std::optional<bool> fortran_order;
  std::optional<Dims> shape;
};

class Parser {
 public:
  Parser(const std::string& name, int64_t start, std::string_view text)
      : name_(name), start_(start), text_(text) {}

  absl::StatusOr<Fields> Dict() {
    Fields fields;
    FIRN_RETURN_IF_ERROR(Expect('{'));
    while (!Take('}')) {
      FIRN_ASSIGN_OR_RETURN(const std::string key, String());
      FIRN_RETURN_IF_ERROR(Expect(':'));
      FIRN_RETURN_IF_ERROR(Value(key, &fields));
      if (!Take(',') && !Peek('}')) return Bad("expected , or }");
    }
    SkipBlanks();
    if (at_ < text_.size()) return Bad("expected nothing after }");
    if (fields.descr.empty() || !fields.fortran_order || !fields.shape) {
      return Bad("expected descr, fortran_order and shape");
    }
    return fields;
  }

 private:
  absl::Status Bad(const std::string& what) const {
    return Damaged(name_, start_ + static_cast<int64_t>(at_), "header", what);
  }

  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool Peek(char c) {
    SkipBlanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool Take(char c) {
    const bool there = Peek(c);
    at_ += there ? 1 : 0;
    return there;
  }
  bool TakeWord(std::string_view word) {
    SkipBlanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  absl::Status Expect(char c) {
    return Take(c) ? absl::OkStatus() : Bad(absl::StrCat("expected ", std::string(1, c)));
  }

  absl::StatusOr<std::string> String() {
    const char quote = Peek('"') ? '"' : '\'';
    FIRN_RETURN_IF_ERROR(Expect(quote));
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos || end - at_ > 64) return Bad("expected a short string");
    const std::string_view text = text_.substr(at_, end - at_);
    if (text.find('\\') != std::string_view::npos) return Bad("expected a string without \\");
    at_ = end + 1;
    return std::string(text);
  }

  absl::Status Value(const std::string& key, Fields* fields) {
    if (key == "descr" && fields->descr.empty()) {
      if (Peek('[') || Peek('(')) {
        return Unimplemented(name_, ": offset ", start_ + static_cast<int64_t>(at_),
                             ", descr: a structure of fields, which is not read: expected one "
                             "kind of number");
      }
      FIRN_ASSIGN_OR_RETURN(fields->descr, String());
    } else if (key == "fortran_order" && !fields->fortran_order) {
      const bool yes = TakeWord("True");
      if (!yes && !TakeWord("False")) return Bad("expected True or False");
      fields->fortran_order = yes;
    } else if (key == "shape" && !fields->shape) {
      FIRN_ASSIGN_OR_RETURN(fields->shape, Tuple());
    } else {
      return Bad(absl::StrCat("expected descr, fortran_order and shape once each, got ",
                              firn::inner::internal::JsonString(key)));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Dims> Tuple() {
    Dims dims;
    FIRN_RETURN_IF_ERROR(Expect('('));
    while (!Take(')')) {
      FIRN_ASSIGN_OR_RETURN(const int64_t size, Number());
      if (dims.rank == kMaxRank) {
        return Unimplemented(name_, ": offset ", start_ + static_cast<int64_t>(at_),
                             ", shape: expected at most ", kMaxRank, " dimensions, got more");
      }
      dims.push_back(size);
      const bool comma = Take(',');
      if (!comma && (!Peek(')') || dims.rank == 1)) return Bad("expected ,");
    }
    return dims;
  }

  absl::StatusOr<int64_t> Number() {
    SkipBlanks();
    const size_t start = at_;
    int64_t v = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (__builtin_mul_overflow(v, int64_t{10}, &v) ||
          __builtin_add_overflow(v, int64_t{text_[at_] - '0'}, &v)) {
        return Bad("expected a size below 2^63");
      }
    }
    if (at_ == start) return Bad("expected a size");
    if (text_[start] == '0' && at_ - start > 1)
      return Bad("expected a size without zeros before it");
    Take('L');  // of Python 2
    return v;
  }

  const std::string& name_;
  const int64_t start_;
  const std::string_view text_;
  size_t at_ = 0;
};

// Whether these are elements of NumPy that are not read: complex and longer floats, objects,
// strings, raw bytes, dates; its own words and letters for types, which other writers use.
bool IsOfNumPy(std::string_view kind) {
  constexpr std::string_view kWords[] = {"O",   "O4",  "O8",  "f12", "f16", "c8",
                                         "c16", "c24", "c32", "M8",  "m8"};
  if (std::find(std::begin(kWords), std::end(kWords), kind) != std::end(kWords)) return true;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (kind.starts_with("M8[") || kind.starts_with("m8[")) return kind.ends_with(']');
  if (!kind.empty() && std::string_view("SaUV").find(kind[0]) != std::string_view::npos) {
    return std::all_of(kind.begin() + 1, kind.end(), is_digit);
  }
  if (kind.size() == 1) return std::string_view("?bBhHiIlLqQpPefdgFDGMm").find(kind[0]) < 99;
  for (const std::string_view word : {"bool", "int", "uint", "float", "complex", "str", "bytes",
                                      "object", "datetime64", "timedelta64"}) {
    if (kind.starts_with(word)) {
      return std::all_of(kind.begin() + static_cast<std::ptrdiff_t>(word.size()), kind.end(),
                         is_digit);
    }
  }
  return false;
}

absl::StatusOr<StoredType> TypeOf(const RandomAccess& file, int64_t at, std::string_view descr,
                                  const NpyOptions& options) {
  bool big = false;
  std::string_view kind = descr;
  if (!kind.empty() && std::string_view("<>|=").find(kind[0]) != std::string_view::npos) {
    big = kind[0] == '>';
    kind.remove_prefix(1);
  }
  struct Known {
    std::string_view kind;
    StoredType type;
  };
  const Known kKnown[] = {
      {"f2", {DType::kF16, 2, big}}, {"f4", {DType::kF32, 4, big}},
      {"f8", {DType::kF64, 8, big}}, {"b1", {DType::kBool, 1}},
      {"i1", {DType::kI8, 1}},       {"u1", {DType::kU8, 1, false, false}},
      {"i2", {DType::kI32, 2, big}}, {"u2", {DType::kI32, 2, big, false}},
      {"i4", {DType::kI32, 4, big}}, {"u4", {DType::kI64, 4, big, false}},
      {"i8", {DType::kI64, 8, big}}, {"u8", {DType::kI64, 8, big, false}},
      {"V2", {DType::kBF16, 2}},
  };
  for (const Known& known : kKnown) {
    if (kind == known.kind && (kind != "V2" || options.void_is_bf16)) return known.type;
  }
  const std::string message = absl::StrCat(
      file.name(), ": offset ", at, ", descr: expected b1, f2, f4, f8, i1 to i8 or u1 to u8, got ",
      firn::inner::internal::JsonString(descr));
  if (IsOfNumPy(kind)) return Unimplemented(message, ", which is not read");
  return DataLoss(message, ", which NumPy does not have");
}

}  // namespace

absl::StatusOr<NpyHeader> ReadNpyHeader(const RandomAccess& file, const NpyOptions& options) {
  FIRN_RETURN_IF_ERROR(ExpectSignature(file, kMagic, "a .npy file"));
  unsigned char fixed[6] = {};
  FIRN_RETURN_IF_ERROR(file.ReadAt(6, fixed, 2, "version"));
  FIRN_RETURN_IF(fixed[0] > 3, Unimplemented(file.name(),
                                             ": offset 6, version: expected 1.0, 2.0 "
                                             "or 3.0, got the newer ",
                                             fixed[0], ".", fixed[1]));
  if (fixed[0] < 1 || fixed[1] != 0) {
    return Damaged(file.name(), 6, "version",
                   absl::StrCat("expected 1.0, 2.0 or 3.0, got ", fixed[0], ".", fixed[1]));
  }
  const int n = fixed[0] == 1 ? 2 : 4;
  FIRN_RETURN_IF_ERROR(file.ReadAt(8, fixed + 2, n, "length of the header"));
  const auto length = static_cast<int64_t>(LittleEndian(fixed + 2, static_cast<size_t>(n)));
  FIRN_RETURN_IF(length > file.size() - 8 - n,
                 Damaged(file.name(), 8, "length of the header",
                         absl::StrCat(length, " bytes lie outside the file")));
  FIRN_RETURN_IF(
      length > kMaxHeader,
      ResourceExhausted(file.name(), ": offset 8, length of the header: expected at most ",
                        kMaxHeader, ", got ", length));
  std::string text(static_cast<size_t>(length), '\0');
  FIRN_RETURN_IF_ERROR(file.ReadAt(8 + n, text.data(), length, "header"));
  FIRN_ASSIGN_OR_RETURN(const Fields fields, Parser(file.name(), 8 + n, text).Dict());
  NpyHeader header;
  header.data_at = 8 + n + length;
  header.fortran_order = *fields.fortran_order;
  FIRN_ASSIGN_OR_RETURN(header.type, TypeOf(file, 8 + n, fields.descr, options));
  absl::StatusOr<Shape> shape = Shape::Make(fields.shape->span());
  FIRN_RETURN_IF(!shape.ok(),
                 Damaged(file.name(), 8 + n, "shape", std::string(shape.status().message())));
  header.shape = *shape;
  FIRN_RETURN_IF(
      header.shape.num_elements() > options.limits.max_total_bytes / SizeOf(header.type.dtype),
      ResourceExhausted(file.name(), ": an array of shape ", header.shape.ToString(),
                        " has more than the ", options.limits.max_total_bytes,
                        " bytes allowed (limits.max_total_bytes)"));
  return header;
}

absl::StatusOr<std::string> FormatNpyHeader(DType dtype, const Shape& shape) {
  const char* descr = nullptr;
  switch (dtype) {
    case DType::kF16:
      descr = "<f2";
      break;
    case DType::kF32:
    case DType::kBF16:
      descr = "<f4";
      break;
    case DType::kF64:
      descr = "<f8";
      break;
    case DType::kBool:
      descr = "|b1";
      break;
    case DType::kI8:
      descr = "|i1";
      break;
    case DType::kU8:
      descr = "|u1";
      break;
    case DType::kI32:
      descr = "<i4";
      break;
    case DType::kI64:
      descr = "<i8";
      break;
  }
  FIRN_RETURN_IF(descr == nullptr, Unimplemented("npy: no such dtype"));
  std::string sizes;
  for (int i = 0; i < shape.rank(); ++i) absl::StrAppend(&sizes, shape[i], ", ");
  if (shape.rank() > 1) sizes.resize(sizes.size() - 2);
  if (shape.rank() == 1) sizes.pop_back();
  std::string text =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", sizes, "), }");
  const size_t fixed = kMagic.size() + 4;
  text.append(63 - (fixed + text.size()) % 64, ' ');
  text += '\n';
  std::string out(kMagic);
  out += std::string("\1\0", 2);
  out += static_cast<char>(text.size() & 255);
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

}  // namespace firn::io::internal

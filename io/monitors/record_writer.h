#ifndef FIRN_IO_MONITORS_RECORD_WRITER_H_
#define FIRN_IO_MONITORS_RECORD_WRITER_H_

// Records of a run's steps for other programs, as CSV and JSON lines.
//
//   io::CsvWriter csv("run.csv", {"step", "loss", "note"});
//   csv.Write({step, loss, "warm-up"});
//   io::JsonLinesWriter json("run.jsonl");
//   json.Write({{"step", step}, {"loss", loss}});

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/io/load_limits.h"

namespace firn::io {

// A cell of a record: nothing, a truth value, a whole number, a number or text in UTF-8.
class RecordValue {
 public:
  enum class Kind { kNone, kBool, kInteger, kNumber, kText };

  RecordValue() = default;
  template <class T>
  requires(std::is_arithmetic_v<T>) RecordValue(T value) {  // NOLINT: implicit on purpose
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::kBool;
      integer_ = value ? 1 : 0;
    } else if constexpr (std::is_integral_v<T>) {
      kind_ = Kind::kInteger;
      integer_ = static_cast<int64_t>(value);
      if (std::is_unsigned_v<T> && integer_ < 0) {  // beyond what whole numbers here hold
        kind_ = Kind::kNumber;
        number_ = static_cast<double>(value);
        integer_ = 0;
      }
    } else {
      kind_ = Kind::kNumber;
      number_ = static_cast<double>(value);
    }
  }
  RecordValue(std::string text) : kind_(Kind::kText), text_(std::move(text)) {}  // NOLINT
  RecordValue(const char* text) : RecordValue(std::string(text)) {}              // NOLINT

  Kind kind() const { return kind_; }
  // A truth value is 0 or 1; a cell that is no number is NaN.
  double number() const;
  int64_t integer() const { return integer_; }  // of kBool and kInteger, else 0
  const std::string& text() const { return text_; }
  // NaN equals NaN here.
  friend bool operator==(const RecordValue& a, const RecordValue& b) { return a.Equals(b); }

 private:
  bool Equals(const RecordValue& other) const;

  Kind kind_ = Kind::kNone;
  int64_t integer_ = 0;
  double number_ = 0;
  std::string text_;
};

struct RecordWriterOptions {
  // For a run that goes on: the first index that it writes, the index being the first value of a
  // record. Records before it stay; those from it on, and a partial last one, are removed. Unset:
  // the file begins anew.
  std::optional<int64_t> resume_at = {};
};

// A CSV file (RFC 4180): a heading, then records. Text stands in quotes where it needs them; NaN
// and infinite numbers are "nan", "inf" and "-inf", truth values "true" and "false", nothing is an
// empty field. Numbers are the shortest that read back as the same. Thread-compatible.
class CsvWriter {
 public:
  // Throws firn::Error when there are no columns, when two have one name, when the file to go on
  // with has other columns, and when it cannot be written.
  CsvWriter(const std::string& path, std::vector<std::string> columns,
            const RecordWriterOptions& options = {});
  ~CsvWriter();
  CsvWriter(CsvWriter&&) noexcept;
  CsvWriter& operator=(CsvWriter&&) noexcept;

  // One value for each column. Throws kInvalidArgument for another number, kResourceExhausted for a
  // full disk, kNotFound when the file was removed; the file is then as before.
  void Write(const std::vector<RecordValue>& values);
  const std::string& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A JSON object on each line (jsonlines.org). NaN and infinite numbers, which JSON lacks, are the
// strings "NaN", "Infinity" and "-Infinity", as in protocol buffers' JSON; text of these letters
// reads back as the number. Thread-compatible.
class JsonLinesWriter {
 public:
  using Fields = std::vector<std::pair<std::string, RecordValue>>;

  // Throws firn::Error when the file cannot be written.
  explicit JsonLinesWriter(const std::string& path, const RecordWriterOptions& options = {});
  ~JsonLinesWriter();
  JsonLinesWriter(JsonLinesWriter&&) noexcept;
  JsonLinesWriter& operator=(JsonLinesWriter&&) noexcept;

  // Throws kInvalidArgument when a name stands twice, else as CsvWriter::Write.
  void Write(const Fields& fields);
  const std::string& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_RECORD_WRITER_H_

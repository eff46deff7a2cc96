#ifndef FIRN_IO_CSV_INTERNAL_CSV_PLAN_H_
#define FIRN_IO_CSV_INTERNAL_CSV_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/csv/csv.h"
#include "firn/io/csv/csv_status.h"
#include "firn/io/csv/internal/csv_columns.h"
#include "firn/io/csv/internal/csv_words.h"
#include "firn/tensor/dtype.h"

namespace firn::io::internal {

// The source of one column of the result, or of several.
struct CsvSource {
  size_t column;  // of the file
  DType dtype = DType::kF32;
  const Words* words = nullptr;  // null: numbers
  const std::vector<std::string>* listed = nullptr;
  bool one_hot = false;
  std::string name = {};  // in the heading, for messages; "" without one
  std::string key = {};   // its name in the result

  size_t width() const { return one_hot ? listed->size() : 1; }
};

// The columns of the result, by the options: Init checks the options alone, Begin with a file's
// columns. Thread-compatible.
class CsvPlan {
 public:
  // The arguments must outlive the plan, except `who`, with which messages about options begin.
  CsvPlan(const CsvOptions& options, const CsvWording& wording, const std::string& who)
      : options_(options), wording_(wording), who_(who) {}
  CsvPlan(const CsvPlan&) = delete;
  CsvPlan& operator=(const CsvPlan&) = delete;

  // InvalidArgument for options that make no sense for any file. To be called first.
  absl::Status Init();
  // InvalidArgument for columns that this file does not have, as by ColumnFinder. To be called
  // once.
  absl::Status Begin(const ColumnFinder& columns);

  const CsvOptions& options() const { return options_; }
  const CsvWording& wording() const { return wording_; }
  // In the order of the result.
  const std::vector<CsvSource>& sources() const { return sources_; }

 private:
  using ByPlace = std::unordered_map<size_t, CsvSource>;
  absl::Status FindWords(const ColumnFinder& columns, ByPlace* of_words) const;
  absl::Status FindTypes(const ColumnFinder& columns,
                         std::unordered_map<size_t, DType>* types) const;

  const CsvOptions& options_;
  const CsvWording& wording_;
  const std::string who_;
  CsvByColumn<Words> words_ = {};
  std::vector<CsvSource> sources_ = {};
};

// f(T()), T being the type of the elements of `dtype`, one of those that tables have.
template <class F>
auto WithElementOf(DType dtype, F f) {
  switch (dtype) {
    case DType::kF64:
      return f(double{});
    case DType::kI64:
      return f(int64_t{});
    case DType::kI32:
      return f(int32_t{});
    case DType::kU8:
      return f(uint8_t{});
    default:
      return f(float{});
  }
}

// "csv: dtype is bf16 (want ...)" for a type that tables cannot have; `what` is "csv: dtype".
absl::Status CheckTableType(const std::string& what, DType dtype);

// A mean of numbers that come one after the other, without a sum that could overflow.
class RunningMean {
 public:
  void Add(double value);
  int64_t count() const { return count_; }
  double Get() const { return infinite_ == 0 ? mean_ : infinite_; }

 private:
  double mean_ = 0, infinite_ = 0;  // of finite numbers; the sum of the others
  int64_t count_ = 0;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_CSV_INTERNAL_CSV_PLAN_H_

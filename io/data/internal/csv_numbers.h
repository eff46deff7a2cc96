#ifndef FIRN_IO_DATA_INTERNAL_CSV_NUMBERS_H_
#define FIRN_IO_DATA_INTERNAL_CSV_NUMBERS_H_

#include <cstdint>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "firn/io/csv/csv_cells.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/tensor/from.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// The numbers among a variable's cells, all of one type. Thread-compatible.
class CsvNumbers {
 public:
  // Requires: all numbers since it was empty had this type.
  template <class T>
  std::vector<T>& Of() {
    std::vector<T>* const vector = std::get_if<std::vector<T>>(&numbers_);
    return vector != nullptr ? *vector : numbers_.template emplace<std::vector<T>>();
  }
  bool empty() const {
    return std::visit([](const auto& numbers) { return numbers.empty(); }, numbers_);
  }
  Tensor ToTensor() && {
    return std::visit([](auto& numbers) { return FromVector(std::move(numbers)); }, numbers_);
  }

 private:
  std::variant<std::vector<float>, std::vector<double>, std::vector<int64_t>, std::vector<int32_t>,
               std::vector<uint8_t>>
      numbers_;
};

enum class CellNumber {
  kIsOne,
  kIsNone,
  kIsInexact,   // a number that the type does not hold
  kIsTooLarge,  // a number out of the range of f32 or f64
};

// Parses a cell as LoadCsv does, except that NaN may be a number.
template <class T>
CellNumber ReadNumber(std::string_view text, bool round, bool nan_is_one, T* value) {
  const CellError error = ParseCell(text, round, value);
  if (error == CellError::kNone) [[likely]] {
    return *value == *value || nan_is_one ? CellNumber::kIsOne : CellNumber::kIsNone;
  }
  if (error == CellError::kInexact) return CellNumber::kIsInexact;
  if constexpr (std::is_floating_point_v<T>) {
    if (ParseNumber(text, value) == std::errc::result_out_of_range) return CellNumber::kIsTooLarge;
  }
  return CellNumber::kIsNone;
}

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_CSV_NUMBERS_H_

// Options speak of columns by names and places, and one column may have both; so all options are
// turned into places, which tell a file's columns apart.
#include "firn/io/csv/internal/csv_plan.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/csv_cells.h"
#include "firn/io/csv/internal/csv_line.h"

namespace firn::io::internal {
namespace {

// How many places of a list the type can tell apart.
double MostWords(DType dtype) {
  return WithElementOf(dtype, [](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      return std::ldexp(1.0, std::numeric_limits<T>::digits) + 1;
    } else {
      return static_cast<double>(std::numeric_limits<T>::max()) + 1;
    }
  });
}

}  // namespace

absl::Status CheckTableType(const std::string& what, DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kF64:
    case DType::kI64:
    case DType::kI32:
    case DType::kU8:
      return absl::OkStatus();
    default:
      return InvalidArgument(what, " is ", DTypeName(dtype), " (want f32, f64, i64, i32 or u8)");
  }
}

absl::Status CsvPlan::Init() {
  FIRN_RETURN_IF_ERROR(CheckTableType(who_ + ": dtype", options_.dtype));
  for (const auto& [column, dtype] : options_.dtypes) {
    FIRN_RETURN_IF_ERROR(
        CheckTableType(absl::StrCat(who_, ": dtypes of column ", ToString(column)), dtype));
  }
  for (const auto& [column, listed] : options_.categories) {
    const std::string of = ToString(column);
    FIRN_RETURN_IF(listed.empty(),
                   InvalidArgument(who_, ": categories of column ", of, " has no words"));
    Words& words = words_[column];
    for (const std::string& word : listed) {
      FIRN_RETURN_IF(
          !words.emplace(word, words.size()).second,
          InvalidArgument(who_, ": categories of column ", of, " has ", Shown(word), " twice"));
    }
  }
  FIRN_RETURN_IF(
      !options_.one_hot.empty() && options_.categories.empty(),
      InvalidArgument(who_, ": ", wording_.one_hot, " has column ", ToString(options_.one_hot[0]),
                      ", whose words ", wording_.categories, " does not list"));
  // If columns have types of their own, a number that these cannot hold is an error of the cell.
  if (!options_.dtypes.empty()) return absl::OkStatus();
  const bool floating = options_.dtype == DType::kF32 || options_.dtype == DType::kF64;
  FIRN_RETURN_IF(options_.missing == CsvMissing::kMean && !floating,
                 InvalidArgument(who_, ": means are no ", DTypeName(options_.dtype),
                                 " (want missing to be another, or the dtype to be f32 or f64)"));
  if (options_.missing != CsvMissing::kValue) return absl::OkStatus();
  return MissingValue(who_, options_.missing_value, options_.dtype, options_.round).status();
}

absl::Status CsvPlan::FindWords(const ColumnFinder& columns, ByPlace* of_words) const {
  for (const auto& [column, listed] : options_.categories) {
    FIRN_ASSIGN_OR_RETURN(const std::vector<size_t> places,
                          columns.FindAll(column, wording_.categories + " names"));
    const Words& words = words_.at(column);
    for (const size_t place : places) {
      CsvSource source = {.column = place, .words = &words, .listed = &listed};
      FIRN_RETURN_IF(!of_words->try_emplace(place, std::move(source)).second,
                     InvalidArgument("which has column ", place, " twice in ", wording_.categories,
                                     ": by its place and by its name"));
    }
  }
  for (const CsvColumn& column : options_.one_hot) {
    FIRN_ASSIGN_OR_RETURN(const std::vector<size_t> places,
                          columns.FindAll(column, wording_.one_hot + " names"));
    for (const size_t place : places) {
      const auto source = of_words->find(place);
      FIRN_RETURN_IF(source == of_words->end(),
                     InvalidArgument("which has column ", place, " in ", wording_.one_hot,
                                     ", whose words ", wording_.categories, " does not list"));
      source->second.one_hot = true;
    }
  }
  return absl::OkStatus();
}

absl::Status CsvPlan::FindTypes(const ColumnFinder& columns,
                                std::unordered_map<size_t, DType>* types) const {
  for (const auto& [column, dtype] : options_.dtypes) {
    FIRN_ASSIGN_OR_RETURN(const std::vector<size_t> places,
                          columns.FindAll(column, wording_.dtypes + " names"));
    for (const size_t place : places) {
      FIRN_RETURN_IF(!types->try_emplace(place, dtype).second,
                     InvalidArgument("which has column ", place, " twice in ", wording_.dtypes,
                                     ": by its place and by its name"));
    }
  }
  return absl::OkStatus();
}

absl::Status CsvPlan::Begin(const ColumnFinder& columns) {
  ByPlace of_words;
  FIRN_RETURN_IF_ERROR(FindWords(columns, &of_words));
  std::unordered_map<size_t, DType> types;
  FIRN_RETURN_IF_ERROR(FindTypes(columns, &types));
  const auto add = [&](size_t place, std::string key) -> absl::Status {
    const auto words = of_words.find(place);
    CsvSource source = words == of_words.end() ? CsvSource{place} : words->second;
    const auto type = types.find(place);
    source.dtype = type == types.end() ? options_.dtype : type->second;
    source.name = columns.NameOf(place);
    source.key = std::move(key);
    FIRN_RETURN_IF(source.words != nullptr && !source.one_hot &&
                       static_cast<double>(source.listed->size()) > MostWords(source.dtype),
                   InvalidArgument("of whose column ", place, " ", wording_.categories, " lists ",
                                   source.listed->size(), " words: ", DTypeName(source.dtype),
                                   " has places for ", MostWords(source.dtype)));
    sources_.push_back(std::move(source));
    return absl::OkStatus();
  };
  for (const CsvColumn& column : options_.columns) {
    FIRN_ASSIGN_OR_RETURN(const size_t place, columns.Find(column, wording_.columns + " names"));
    FIRN_RETURN_IF_ERROR(
        add(place, column.is_named() ? column.name() : absl::StrCat(column.place())));
  }
  for (size_t c = 0; c < columns.size() && options_.columns.empty(); ++c) {
    FIRN_RETURN_IF_ERROR(add(c, columns.has_names() ? columns.NameOf(c) : absl::StrCat(c)));
  }
  return absl::OkStatus();
}

void RunningMean::Add(double value) {
  ++count_;
  if (std::isinf(value)) {
    infinite_ += value;
    return;
  }
  const auto n = static_cast<double>(count_);
  const double step = value - mean_;
  // If the difference overflows, the two quotients do not, though their difference is less exact.
  mean_ += std::isinf(step) ? value / n - mean_ / n : step / n;
}

}  // namespace firn::io::internal

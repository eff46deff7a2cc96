#include "firn/io/nnabla/internal/nnabla_cache_index.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {
namespace {

// Calls row(fields) for each line, and adds file and line to what it returns.
absl::Status ForEachLine(const RandomAccess& file, size_t columns, const LoadLimits& limits,
                         const std::function<absl::Status(const std::vector<Field>&)>& row) {
  FIRN_RETURN_IF(file.size() > limits.max_metadata_bytes,
                 ResourceExhausted(file.name(), ": more than the ", limits.max_metadata_bytes,
                                   " bytes allowed (limits.max_metadata_bytes)"));
  std::string text(static_cast<size_t>(file.size()), '\0');
  FIRN_RETURN_IF_ERROR(file.ReadAt(0, text.data(), file.size(), "lines"));
  std::string_view rest = text;
  std::vector<Field> fields;
  for (int64_t number = 1; !rest.empty(); ++number) {
    absl::Status status = SplitRecord(TakeUpTo(&rest, '\n'), ',', &fields);
    if (status.ok() && fields.size() != columns) {
      status = DataLoss("expected ", columns, " columns, got ", fields.size());
    }
    if (status.ok()) status = row(fields);
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(file.name(), ": line ", number, ", ",
                                                      std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

absl::Status AddFile(const std::string& folder, const std::vector<Field>& fields,
                     NnablaCacheIndex* index) {
  const std::string name = WordOf(fields[0]);
  const bool is_name = !name.empty() && name != "." && name != ".." &&
                       name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  FIRN_RETURN_IF(!is_name, DataLoss(InColumn(0), "expected the name of a file in this folder, got ",
                                    Shown(name)));
  const std::string_view text = fields[1].text;
  int64_t rows = 0, end = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), rows);
  FIRN_RETURN_IF(error != std::errc() || stop != text.data() + text.size() || rows < 0 ||
                     __builtin_add_overflow(index->size(), rows, &end),
                 DataLoss(InColumn(1), "expected a number of rows, got ", Shown(text)));
  index->files.push_back(absl::StrCat(folder, "/", name));
  index->rows.push_back(rows);
  index->ends.push_back(end);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NnablaCacheIndex> ReadNnablaCacheIndex(const std::string& folder,
                                                      const LoadLimits& limits) {
  NnablaCacheIndex index;
  FIRN_ASSIGN_OR_RETURN(const auto table,
                        RandomAccess::Open(absl::StrCat(folder, "/", kCacheIndex)));
  FIRN_RETURN_IF_ERROR(ForEachLine(*table, 2, limits, [&](const std::vector<Field>& fields) {
    return AddFile(folder, fields, &index);
  }));
  const auto info = RandomAccess::Open(absl::StrCat(folder, "/", kCacheInfo));
  index.has_info = info.ok();
  if (absl::IsNotFound(info.status())) return index;
  FIRN_RETURN_IF_ERROR(info.status());
  FIRN_RETURN_IF_ERROR(ForEachLine(**info, 1, limits, [&](const std::vector<Field>& fields) {
    index.variables.push_back(WordOf(fields[0]));
    return absl::OkStatus();
  }));
  std::vector<std::string> sorted = index.variables;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  FIRN_RETURN_IF(twice != sorted.end(), DataLoss((*info)->name(), ": expected each variable once, ",
                                                 "got ", Shown(*twice), " twice"));
  FIRN_RETURN_IF(index.variables.empty(), DataLoss((*info)->name(), ": expected variables"));
  return index;
}

bool IsNnablaCache(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(absl::StrCat(folder, "/", kCacheIndex), error);
}

}  // namespace firn::io::internal

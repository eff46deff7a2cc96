// Lines of numbers with blanks between them; a partial last line is ignored.
#include "firn/io/monitors/series.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/byte_source.h"
#include "firn/io/monitors/line_file.h"
#include "firn/io/monitors/series_status.h"
#include "firn/io/number_text.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "series";
constexpr size_t kMostFields = 4;
using Fields = std::array<double, kMostFields>;

// `count` numbers.
absl::StatusOr<Fields> ParseLine(std::string_view line, size_t count) {
  constexpr size_t kShown = 60;
  Fields fields{};
  std::string_view rest = line;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = rest.find(' ');
    const std::optional<double> number = ParseNumber(rest.substr(0, at));
    const bool last = at == std::string_view::npos;
    if (!number.has_value() || last != (i + 1 == count)) {
      return DataLoss("expected ", count, " numbers with a blank between them, got ",
                      inner::internal::JsonString(line.substr(0, kShown)));
    }
    fields[i] = *number;
    if (!last) rest.remove_prefix(at + 1);
  }
  return fields;
}

// The file's name without its folder and what comes after the first dot of `suffix`.
std::string NameOf(const std::string& path, std::string_view suffix) {
  std::string name = std::filesystem::path(path).filename().string();
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

// `y` makes the number of a line's fields.
template <class Y>
absl::StatusOr<Series> Parse(std::string_view text, const std::string& name,
                             std::string_view suffix, size_t count, Y y) {
  Series series{.name = NameOf(name, suffix)};
  int64_t line = 0;
  for (size_t n; (n = SplitLine(text)) != 0; text.remove_prefix(n)) {
    ++line;
    const bool crlf = n > 1 && text[n - 2] == '\r';
    const absl::StatusOr<Fields> fields = ParseLine(text.substr(0, n - (crlf ? 2 : 1)), count);
    if (!fields.ok()) {
      return absl::Status(
          fields.status().code(),
          absl::StrCat(name, ": line ", line, ": ", std::string(fields.status().message())));
    }
    series.x.push_back((*fields)[0]);
    series.y.push_back(y(*fields));
  }
  return series;
}

std::string Text(const std::string& path, const LoadLimits& limits) {
  absl::StatusOr<std::unique_ptr<internal::ByteSource>> source = internal::ByteSource::Open(path);
  RaiseIfError(source.status(), kWho);
  absl::StatusOr<std::string> text =
      (*source)->ReadAll(limits.max_total_bytes, "limits.max_total_bytes");
  RaiseIfError(text.status(), kWho);
  return *std::move(text);
}

Series ValueOf(absl::StatusOr<Series> series) {
  RaiseIfError(series.status(), kWho);
  return *std::move(series);
}

}  // namespace

absl::StatusOr<Series> TryParseSeries(std::string_view text, const std::string& name) {
  return Parse(text, name, ".series.txt", 2, [](const Fields& fields) { return fields[1]; });
}

absl::StatusOr<Series> TryParseTimer(std::string_view text, const std::string& name,
                                     TimerColumn column) {
  return Parse(text, name, ".timer.txt", 4, [column](const Fields& fields) {
    if (column == TimerColumn::kTotal) return fields[3];
    return column == TimerColumn::kElapsed ? fields[1] : fields[1] / fields[2];
  });
}

Series LoadSeries(const std::string& path, const LoadLimits& limits) {
  return ValueOf(TryParseSeries(Text(path, limits), path));
}

Series LoadTimer(const std::string& path, TimerColumn column, const LoadLimits& limits) {
  return ValueOf(TryParseTimer(Text(path, limits), path, column));
}

void TellApart(const std::vector<std::string>& paths, std::vector<Series>* series) {
  std::map<std::string, std::vector<size_t>> named;
  for (size_t i = 0; i < series->size(); ++i) named[(*series)[i].name].push_back(i);
  for (const auto& [name, alike] : named) {
    if (alike.size() == 1) continue;
    std::vector<std::vector<std::string>> folders;  // the innermost first
    size_t most = 0;
    for (const size_t i : alike) {
      auto& own = folders.emplace_back();
      std::filesystem::path path = std::filesystem::path(paths[i]).lexically_normal().parent_path();
      for (; path.has_filename(); path = path.parent_path())
        own.push_back(path.filename().string());
      most = std::max(most, own.size());
    }
    for (size_t depth = 1; depth <= most; ++depth) {
      std::set<std::string> different;
      for (size_t k = 0; k < alike.size(); ++k) {
        std::string prefix;
        for (size_t d = 0; d < std::min(depth, folders[k].size()); ++d) {
          prefix = folders[k][d] + "/" + prefix;
        }
        (*series)[alike[k]].name = prefix + name;
        different.insert(prefix);
      }
      if (different.size() == alike.size()) break;
    }
    std::map<std::string, int> counts;
    for (const size_t i : alike) {
      const int n = ++counts[(*series)[i].name];
      if (n > 1) absl::StrAppend(&(*series)[i].name, " (", n, ")");
    }
  }
}

}  // namespace firn::io

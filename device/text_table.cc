// Two passes: the widths of columns, then the lines. Width is counted in characters of UTF-8.

#include "firn/device/text_table.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"

namespace firn::inner::internal {
namespace {

size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  }));
}

}  // namespace

std::string GroupedDigits(int64_t n) {
  const std::string all = absl::StrCat(n);
  const std::string sign = n < 0 ? "-" : "";
  const std::string digits = all.substr(sign.size());
  std::string text = sign;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string BytesText(int64_t n) {
  if (n < 1024) return absl::StrCat(n, " B");
  const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(n) / 1024;
  size_t unit = 0;
  for (; size >= 1024 && unit < 3; ++unit) size /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", size, units[unit]);
  return text;
}

std::string AlignedText(const std::vector<std::vector<std::string>>& lines, size_t left) {
  if (lines.empty()) return "";
  std::vector<size_t> widths(lines[0].size(), 0);
  for (const auto& line : lines) {
    for (size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], WidthOf(line[c]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (size_t c = 0; c < line.size(); ++c) {
      const std::string space(widths[c] - WidthOf(line[c]), ' ');
      absl::StrAppend(&row, c == 0 ? "" : "  ", c < left ? line[c] : space,
                      c < left ? space : line[c]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, row, "\n");
  }
  return text;
}

}  // namespace firn::inner::internal

#ifndef FIRN_DEVICE_TEXT_TABLE_H_
#define FIRN_DEVICE_TEXT_TABLE_H_

// Tables and numbers as people read them: summaries, profiles.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace firn::inner::internal {

// 14450688 -> "14,450,688".
std::string GroupedDigits(int64_t n);

// 1536 -> "1.5 KiB"; below 1024 "17 B".
std::string BytesText(int64_t n);

// Lines of cells, columns as wide as their widest cell and two spaces apart; the first `left`
// columns flush left, the others flush right. Every line has as many cells as the first. No spaces
// at the ends of lines.
std::string AlignedText(const std::vector<std::vector<std::string>>& lines, size_t left);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_TEXT_TABLE_H_

// Each level of instructions finds what a loop over bytes finds.
#include "firn/io/internal/csv_masks.h"

#include <memory>
#include <random>
#include <string>

#include "firn/device/cpu.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

uint64_t Where(const std::string& text, int word, const std::string& bytes) {
  uint64_t mask = 0;
  for (size_t i = 0; i < 64; ++i) {
    const size_t at = 64 * static_cast<size_t>(word) + i;
    if (at < text.size() && bytes.find(text[at]) != std::string::npos) mask |= uint64_t{1} << i;
  }
  return mask;
}

void ExpectMasks(int level, const std::string& text, char separator) {
  // A buffer of its own, so that what is read behind it is found out.
  const std::unique_ptr<char[]> bytes(new char[text.size()]);
  std::copy(text.begin(), text.end(), bytes.get());
  CsvMasks masks;
  FindCsvMasks(level, bytes.get(), static_cast<int64_t>(text.size()), separator, &masks);
  for (int k = 0; k < CsvMasks::kWords; ++k) {
    const uint64_t some = Where(text, k, "\"\r\n");
    ASSERT_EQ(masks.some >> k & 1, some != 0 ? 1 : 0) << level << ", word " << k;
    if (some == 0) continue;
    const CsvMasks::Word& w = masks.words[k];
    const uint64_t quotes = Where(text, k, "\"");
    ASSERT_EQ(w.quotes, quotes) << level << ", word " << k;
    ASSERT_EQ(w.feeds, Where(text, k, "\n")) << level << ", word " << k;
    ASSERT_EQ(w.returns, Where(text, k, "\r")) << level << ", word " << k;
    ASSERT_EQ(w.before, some | Where(text, k, std::string(1, separator)))
        << level << ", word " << k;
    uint64_t inside = 0, odd = 0;
    for (int i = 0; i < 64; ++i) inside |= (odd ^= quotes >> i & 1) << i;
    ASSERT_EQ(w.inside, inside) << level << ", word " << k;
  }
}

TEST(CsvMasksTest, LevelsFindTheSame) {
  std::mt19937 random(1);
  for (const int level : {0, 2, 3, 4}) {
    if (level > inner::ThisCpu().level) continue;
    for (int round = 0; round < 300; ++round) {
      std::string text(random() % (CsvMasks::kBytes + 1), 'a');
      // Any byte, few that matter, and many of them.
      for (char& c : text) {
        const auto r = static_cast<uint32_t>(random());
        if (round % 3 == 0) c = static_cast<char>(r);
        if (round % 3 == 1 && r % 200 == 0) c = "\"\n\r,"[r / 256 % 4];
        if (round % 3 == 2 && r % 2 == 0) c = "\"\n\",a;\t "[r / 256 % 8];
      }
      ExpectMasks(level, text, round % 2 == 0 ? ',' : ';');
    }
    ExpectMasks(level, "", ',');
  }
}

}  // namespace
}  // namespace firn::io::internal

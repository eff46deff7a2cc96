// Masks of texts agree with a loop over their bytes.
#include "firn/tensor/internal/text_masks.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>

#include "firn/tensor/internal/kernel_functions.h"
#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

uint64_t Where(const std::string& text, int word, const std::string& bytes) {
  uint64_t mask = 0;
  for (size_t i = 0; i < 64; ++i) {
    const size_t at = 64 * static_cast<size_t>(word) + i;
    if (at < text.size() && bytes.find(text[at]) != std::string::npos) mask |= uint64_t{1} << i;
  }
  return mask;
}

void ExpectMasks(const std::string& text, char separator) {
  // A buffer of its own, so that sanitizers find reads behind it.
  const std::unique_ptr<char[]> bytes(new char[text.size()]);
  std::copy(text.begin(), text.end(), bytes.get());
  TextMasks masks;
  kernel_functions.find_text_masks(bytes.get(), static_cast<int64_t>(text.size()), separator,
                                   &masks);
  for (int k = 0; k < TextMasks::kWords; ++k) {
    const uint64_t some = Where(text, k, "\"\r\n");
    ASSERT_EQ(masks.some >> k & 1, some != 0 ? 1 : 0) << "word " << k;
    if (some == 0) continue;
    const TextMasks::Word& w = masks.words[k];
    const uint64_t quotes = Where(text, k, "\"");
    ASSERT_EQ(w.quotes, quotes) << "word " << k;
    ASSERT_EQ(w.feeds, Where(text, k, "\n")) << "word " << k;
    ASSERT_EQ(w.returns, Where(text, k, "\r")) << "word " << k;
    const uint64_t separators = Where(text, k, std::string(1, separator));
    ASSERT_EQ(masks.quoted >> k & 1, quotes != 0 ? 1 : 0) << "word " << k;
    ASSERT_EQ(w.before, some | (quotes != 0 ? separators : separators >> 63 << 63)) << "word " << k;
    uint64_t inside = 0, odd = 0;
    for (int i = 0; i < 64; ++i) inside |= (odd ^= quotes >> i & 1) << i;
    ASSERT_EQ(w.inside, inside) << "word " << k;
  }
}

TEST(TextMasksTest, FindsWhatALoopFinds) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % (TextMasks::kBytes + 1), 'a');
    // Texts of any bytes, with few and with many that matter.
    for (char& c : text) {
      const auto r = static_cast<uint32_t>(random());
      if (round % 3 == 0) c = static_cast<char>(r);
      if (round % 3 == 1 && r % 200 == 0) c = "\"\n\r,"[r / 256 % 4];
      if (round % 3 == 2 && r % 2 == 0) c = "\"\n\",a;\t "[r / 256 % 8];
    }
    ExpectMasks(text, round % 2 == 0 ? ',' : ';');
  }
  ExpectMasks("", ',');
}

// Also bytes that lie nearest to each other, alone in their word.
TEST(TextMasksTest, FindsOneByteOfAllAtEachPlace) {
  for (int place = 0; place < 64; ++place) {
    for (int c = 0; c < 256; ++c) {
      std::string text(64, 'a');
      text[static_cast<size_t>(place)] = static_cast<char>(c);
      ExpectMasks(text, ',');
    }
  }
}

}  // namespace
}  // namespace firn::inner::internal

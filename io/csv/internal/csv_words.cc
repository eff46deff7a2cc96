// Only a new word is compared with the missing ones, once, since columns have few words.
#include "firn/io/csv/internal/csv_words.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {

absl::Status WordSet::Add(const Field& field) {
  const auto [word, is_new] = words_.insert(WordOf(field));
  if (!is_new) return absl::OkStatus();
  bytes_ += static_cast<int64_t>(word->size() + sizeof(*word));
  FIRN_RETURN_IF(!advice_.empty() && missing_.HasWord(*word),
                 DataLoss("expected a word, got ", Shown(*word), " (", advice_, ")"));
  return absl::OkStatus();
}

std::vector<std::string> WordSet::Sorted() const {
  std::vector<std::string> sorted;
  for (const std::string& word : words_) {
    if (!missing_.HasWord(word)) sorted.push_back(word);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

absl::Status ExpectedWord(const Field& field, const std::vector<std::string>& listed) {
  constexpr size_t kShown = 8;
  std::string expected;
  for (size_t i = 0; i < listed.size() && i < kShown; ++i) {
    absl::StrAppend(&expected, i == 0 ? "" : ", ", Shown(listed[i]));
  }
  if (listed.size() > kShown) absl::StrAppend(&expected, ", ... (", listed.size(), " words)");
  return DataLoss("expected one of ", expected, ", got ", Shown(field.text));
}

}  // namespace firn::io::internal

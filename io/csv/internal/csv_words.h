#ifndef FIRN_IO_CSV_INTERNAL_CSV_WORDS_H_
#define FIRN_IO_CSV_INTERNAL_CSV_WORDS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "firn/io/csv/internal/csv_line.h"

namespace firn::io::internal {

// The place of each word that may stand in a column.
using Words = absl::flat_hash_map<std::string, int64_t>;

// Tells which cells are missing. Thread-safe.
class MissingWords {
 public:
  explicit MissingWords(const std::vector<std::string>& words) {
    for (const std::string& word : words) words_.emplace(Trim(word));
  }
  // Blanks and quotes around the text do not matter.
  bool Has(const Field& field) const { return HasWord(WordOf(field)); }
  bool HasWord(const std::string& word) const { return words_.contains(std::string(Trim(word))); }

 private:
  absl::flat_hash_set<std::string> words_ = {};
};

// The different words of a column, missing ones aside. Thread-compatible.
class WordSet {
 public:
  // Missing words are errors if `advice`, which says what to do about them, is not empty. `missing`
  // must outlive the object.
  WordSet(const MissingWords& missing, std::string advice)
      : missing_(missing), advice_(std::move(advice)) {}

  // DataLoss, "expected a word, got "NA" (<advice>)".
  absl::Status Add(const Field& field);
  std::vector<std::string> Sorted() const;
  // About how many bytes of memory the words take.
  int64_t bytes() const { return bytes_; }

 private:
  const MissingWords& missing_;
  const std::string advice_;
  absl::flat_hash_set<std::string> words_ = {};
  int64_t bytes_ = 0;
};

// DataLoss for a field that holds none of the words which are listed; it shows the first of them.
absl::Status ExpectedWord(const Field& field, const std::vector<std::string>& listed);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CSV_INTERNAL_CSV_WORDS_H_

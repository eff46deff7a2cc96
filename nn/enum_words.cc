// Lists of words are short, so they are searched from their beginning.

#include "firn/nn/enum_words.h"

namespace firn::nn::internal {

const char* WordList::WordFor(int64_t number) const {
  if (number < 0 || number >= static_cast<int64_t>(words_.size())) return nullptr;
  return words_[static_cast<size_t>(number)];
}

int64_t WordList::NumberOf(std::string_view word) const {
  for (size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] == word) return static_cast<int64_t>(i);
  }
  return -1;
}

std::string WordList::Text() const {
  std::string text;
  for (size_t i = 0; i < words_.size(); ++i) {
    if (i != 0) text += i + 1 == words_.size() ? " or " : ", ";
    text += words_[i];
  }
  return text;
}

}  // namespace firn::nn::internal

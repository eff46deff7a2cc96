// Lists of words are short, so they are searched from their beginning.
#include "firn/device/enum_words.h"

namespace firn::inner {

const char* WordList::WordFor(int64_t value) const {
  for (const EnumWord& w : *this) {
    if (w.value == value) return w.word;
  }
  return nullptr;
}

int64_t WordList::PositionOf(int64_t value) const {
  for (const EnumWord& w : *this) {
    if (w.value == value) return &w - begin_;
  }
  return -1;
}

const EnumWord* WordList::Find(std::string_view word) const {
  for (const EnumWord& w : *this) {
    if (w.word == word) return &w;
  }
  return nullptr;
}

std::string WordList::Text() const {
  std::string text;
  for (const EnumWord& w : *this) {
    if (&w != begin_) text += &w + 1 == end() ? " or " : ", ";
    text += w.word;
  }
  return text;
}

}  // namespace firn::inner

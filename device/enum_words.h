#ifndef FIRN_DEVICE_ENUM_WORDS_H_
#define FIRN_DEVICE_ENUM_WORDS_H_

// Words for enumerators. An enum that is an attribute of an operation, or an option of an
// optimizer, declares its words beside it:
//
//   enum class PadMode : uint8_t { kConstant, kReflect };
//   constexpr auto WordsOf(PadMode) {
//     return inner::EnumWords<PadMode>(
//         {{PadMode::kConstant, "constant"}, {PadMode::kReflect, "reflect"}});
//   }
//
// The function is found by its argument, so it stands in the namespace of its enum. Texts, graph
// files and golden cases have the words, spelled as PyTorch or ONNX spell them. Files that hold
// only numbers (graph files before version 3, state dicts of optimizers) have the position in this
// list: a new enumerator goes to the end of the list, wherever it stands in the enum.
//
// NVRTC reads this header as well, so it needs nothing of the standard library.

#include <cstdint>
#include <string>
#include <string_view>

namespace firn::inner {

struct EnumWord {
  int64_t value;
  const char* word;
};

template <class E>
struct WordOfEnumerator {
  E value;
  const char* word;
};

template <int kCount>
struct EnumWordArray {
  EnumWord words[kCount];
};

template <class E, int kCount>
constexpr EnumWordArray<kCount> EnumWords(const WordOfEnumerator<E> (&words)[kCount]) {
  EnumWordArray<kCount> list{};
  for (int i = 0; i < kCount; ++i) {
    list.words[i] = {static_cast<int64_t>(words[i].value), words[i].word};
  }
  return list;
}

// The words of one enum or another, in their order. Borrowed; a plain value.
class WordList {
 public:
  template <int kCount>
  constexpr WordList(const EnumWordArray<kCount>& list)  // NOLINT: implicit
      : begin_(list.words), size_(kCount) {}

  constexpr int64_t size() const { return size_; }
  constexpr const EnumWord* begin() const { return begin_; }
  constexpr const EnumWord* end() const { return begin_ + size_; }

  // The word of an enumerator; null for a value that is no enumerator.
  const char* WordFor(int64_t value) const;
  // The enumerator's position in the list; -1 for a value that is no enumerator.
  int64_t PositionOf(int64_t value) const;
  // The entry of a word; null for one that is not in the list.
  const EnumWord* Find(std::string_view word) const;
  // "constant, reflect or replicate": for messages.
  std::string Text() const;

 private:
  const EnumWord* begin_;
  int size_;
};

template <class E>
inline constexpr auto kWordsOf = WordsOf(E());

// The word of an enumerator; null for a value that is no enumerator.
template <class E>
const char* WordFor(E enumerator) {
  return WordList(kWordsOf<E>).WordFor(static_cast<int64_t>(enumerator));
}

namespace internal {
// The compiler's name of a value of an enum ends in "::kReflect]", or in ")7]" where the value is
// no enumerator.
template <auto kValue>
constexpr bool IsEnumerator() {
  const char* const text = __PRETTY_FUNCTION__;
  char before = 0;  // the last character that cannot stand in a name
  for (const char* c = text; c[1] != 0; ++c) {
    const bool in_name = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                         (*c >= '0' && *c <= '9') || *c == '_';
    if (!in_name) before = *c;
  }
  return before == ':';
}
}  // namespace internal

// Whether the list has each enumerator of an enum class that counts from 0, once, with a word of
// its own.
template <class E>
constexpr bool HasWordsForAll() {
  constexpr WordList kWords = kWordsOf<E>;
  for (const EnumWord& a : kWords) {
    if (a.value < 0 || a.value >= kWords.size()) return false;
    for (const EnumWord* b = kWords.begin(); b != &a; ++b) {
      const char *x = a.word, *y = b->word;
      while (*x != 0 && *x == *y) ++x, ++y;
      if (a.value == b->value || *x == *y) return false;
    }
  }
  return !internal::IsEnumerator<static_cast<E>(kWords.size())>();
}

}  // namespace firn::inner

#endif  // FIRN_DEVICE_ENUM_WORDS_H_

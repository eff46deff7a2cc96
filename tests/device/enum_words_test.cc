#include "firn/device/enum_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace firn::inner {
namespace {

enum class Fruit : int8_t { kApple, kPear, kPlum };
// The words are in another order, as if the enum was sorted anew after files were written.
constexpr auto WordsOf(Fruit) {
  return EnumWords<Fruit>(
      {{Fruit::kPlum, "plum"}, {Fruit::kApple, "apple"}, {Fruit::kPear, "pear"}});
}
static_assert(HasWordsForAll<Fruit>());

enum class WithoutTheLast { kA, kB, kC };
constexpr auto WordsOf(WithoutTheLast) {
  return EnumWords<WithoutTheLast>({{WithoutTheLast::kA, "a"}, {WithoutTheLast::kB, "b"}});
}
static_assert(!HasWordsForAll<WithoutTheLast>());

enum class WithoutTheFirst { kA, kB, kC };
constexpr auto WordsOf(WithoutTheFirst) {
  return EnumWords<WithoutTheFirst>({{WithoutTheFirst::kB, "b"}, {WithoutTheFirst::kC, "c"}});
}
static_assert(!HasWordsForAll<WithoutTheFirst>());

enum class OneWordForTwo { kA, kB };
constexpr auto WordsOf(OneWordForTwo) {
  return EnumWords<OneWordForTwo>({{OneWordForTwo::kA, "a"}, {OneWordForTwo::kB, "a"}});
}
static_assert(!HasWordsForAll<OneWordForTwo>());

enum class TwoWordsForOne { kA, kB };
constexpr auto WordsOf(TwoWordsForOne) {
  return EnumWords<TwoWordsForOne>({{TwoWordsForOne::kB, "a"}, {TwoWordsForOne::kB, "b"}});
}
static_assert(!HasWordsForAll<TwoWordsForOne>());

enum class WithAHole { kA, kC = 2 };
constexpr auto WordsOf(WithAHole) {
  return EnumWords<WithAHole>({{WithAHole::kA, "a"}, {WithAHole::kC, "c"}});
}
static_assert(!HasWordsForAll<WithAHole>());

const WordList kFruit = kWordsOf<Fruit>;

TEST(EnumWordsTest, WordsBelongToEnumeratorsWhateverTheOrder) {
  EXPECT_STREQ(WordFor(Fruit::kApple), "apple");
  EXPECT_STREQ(WordFor(Fruit::kPear), "pear");
  EXPECT_STREQ(WordFor(Fruit::kPlum), "plum");
  for (const Fruit f : {Fruit::kApple, Fruit::kPear, Fruit::kPlum}) {
    ASSERT_NE(kFruit.Find(WordFor(f)), nullptr);
    EXPECT_EQ(kFruit.Find(WordFor(f))->value, static_cast<int64_t>(f));
  }
}

TEST(EnumWordsTest, PositionsAreThoseOfTheList) {
  EXPECT_EQ(kFruit.size(), 3);
  EXPECT_EQ(kFruit.PositionOf(static_cast<int64_t>(Fruit::kPlum)), 0);
  EXPECT_EQ(kFruit.PositionOf(static_cast<int64_t>(Fruit::kApple)), 1);
  EXPECT_EQ(kFruit.PositionOf(static_cast<int64_t>(Fruit::kPear)), 2);
}

TEST(EnumWordsTest, WhatIsNoneHasNone) {
  for (const int64_t value : {int64_t{-1}, int64_t{3}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(kFruit.WordFor(value), nullptr);
    EXPECT_EQ(kFruit.PositionOf(value), -1);
  }
  EXPECT_EQ(WordFor(static_cast<Fruit>(7)), nullptr);
  for (const char* word : {"", "app", "apples", "Apple"}) EXPECT_EQ(kFruit.Find(word), nullptr);
}

TEST(EnumWordsTest, TextListsThemAll) {
  EXPECT_EQ(kFruit.Text(), "plum, apple or pear");
  enum class One { kA };
  constexpr EnumWordArray<1> one = EnumWords<One>({{One::kA, "a"}});
  EXPECT_EQ(WordList(one).Text(), "a");
}

}  // namespace
}  // namespace firn::inner

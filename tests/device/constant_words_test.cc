// With Firn's flags g++ 12.2 compiles correctly what it gets wrong for AVX-512 with its default
// flags (third_party/host.bzl).

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace firn {
namespace {

// Not inlined, or the compiler would see the values that are compared.
template <class T>
[[gnu::noinline]] std::vector<T>* TwoAndTwo() {
  return new std::vector<T>{1, 1, 0, 0};
}
template <class T>
[[gnu::noinline]] std::vector<T>* ThreeAndOne() {
  return new std::vector<T>{5, 5, 5, 0};
}
template <class T>
[[gnu::noinline]] std::vector<T>* FourAndFour() {
  return new std::vector<T>{1, 1, 1, 1, 0, 0, 0, 0};
}

template <class T>
void ExpectWords(std::vector<T>* words, int ones, int count) {
  ASSERT_EQ(words->size(), static_cast<size_t>(count));
  EXPECT_NE(words->front(), T(0));
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ((*words)[static_cast<size_t>(i)], i < ones ? words->front() : T(0)) << "word " << i;
  }
  delete words;
}

TEST(ConstantWordsTest, VectorsHoldTheirInitializers) {
  ExpectWords(TwoAndTwo<double>(), 2, 4);
  ExpectWords(TwoAndTwo<float>(), 2, 4);
  ExpectWords(TwoAndTwo<int64_t>(), 2, 4);
  ExpectWords(ThreeAndOne<double>(), 3, 4);
  ExpectWords(ThreeAndOne<int64_t>(), 3, 4);
  ExpectWords(FourAndFour<float>(), 4, 8);
  ExpectWords(FourAndFour<int64_t>(), 4, 8);
  ExpectWords(FourAndFour<int16_t>(), 4, 8);
}

}  // namespace
}  // namespace firn

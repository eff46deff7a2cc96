#include "firn/io/torch/internal/pickle.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

using ::testing::HasSubstr;
using Kind = PickleValue::Kind;

// A value in words.
std::string Shown(const Pickle& pickle, uint32_t at) {
  const PickleValue& value = pickle[at];
  std::vector<std::string> items;
  for (const uint32_t item : value.items) items.push_back(Shown(pickle, item));
  std::string inside;
  for (const std::string& item : items) absl::StrAppend(&inside, inside.empty() ? "" : " ", item);
  switch (value.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return value.integer != 0 ? "True" : "False";
    case Kind::kInt:
      return absl::StrCat(value.integer);
    case Kind::kFloat:
      return absl::StrCat(value.number, "f");
    case Kind::kString:
      return absl::StrCat("'", value.text, "'");
    case Kind::kTuple:
      return absl::StrCat("(", inside, ")");
    case Kind::kList:
      return absl::StrCat("[", inside, "]");
    case Kind::kDict:
      return absl::StrCat("{", inside, "}");
    case Kind::kGlobal:
      return absl::StrCat("<", value.text, ">");
    case Kind::kObject:
      return absl::StrCat("<", value.text, " ", inside, ">");
    case Kind::kStored:
      return absl::StrCat("@", inside);
  }
  return "?";
}

std::string Read(const std::string& bytes, const LoadLimits& limits = {}) {
  const absl::StatusOr<Pickle> pickle = ReadPickle(bytes, limits);
  return pickle.ok() ? Shown(*pickle, pickle->root) : pickle.status().ToString();
}

// The bytes that Python's pickle.dumps(value, protocol=2) writes.
TEST(PickleTest, ReadsValues) {
  EXPECT_EQ(Read("\x80\x02N."), "None");
  EXPECT_EQ(Read("\x80\x02\x88."), "True");
  EXPECT_EQ(Read("\x80\x02K\xff."), "255");
  EXPECT_EQ(Read("\x80\x02M\xff\xff."), "65535");
  EXPECT_EQ(Read("\x80\x02J\xff\xff\xff\xff."), "-1");
  EXPECT_EQ(Read(std::string("\x80\x02\x8a\x00.", 5)), "0");
  EXPECT_EQ(Read("\x80\x02\x8a\x01\x80."), "-128");
  EXPECT_EQ(Read(std::string("\x80\x02\x8a\x02\x80\x00.", 7)), "128");
  EXPECT_EQ(Read(std::string("\x80\x02\x8a\x08\0\0\0\0\0\0\0\x80.", 13)), "-9223372036854775808");
  EXPECT_EQ(Read(std::string("\x80\x02G\x3f\xf8\0\0\0\0\0\0.", 12)), "1.5f");
  EXPECT_EQ(Read(std::string("\x80\x02X\3\0\0\0a\xc3\xa9q\0.", 13)), "'a\xc3\xa9'");
  EXPECT_EQ(Read("\x80\x02]q\x01(K\x01K\x02"
                 "e."),
            "[1 2]");
  EXPECT_EQ(Read("\x80\x02}q\x01(K\x01K\x02K\x03K\x04u."), "{1 2 3 4}");
  EXPECT_EQ(Read("\x80\x02(K\x01K\x02K\x03K\x04t."), "(1 2 3 4)");
  EXPECT_EQ(Read("\x80\x02K\x01K\x02\x86q\x01."), "(1 2)");
  EXPECT_EQ(Read("\x80\x02]q\x01h\x01\x86."), "([] [])");
  EXPECT_EQ(Read("\x80\x02"
                 "cos\nsystem\nU\2ls\x85R."),
            "<os system ('ls')>");
  EXPECT_EQ(Read("\x80\x02"
                 "ccollections\nOrderedDict\n)RK\1K\2s}b."),
            "{1 2}");
  EXPECT_EQ(Read("\x80\x02K\7Q."), "@7");
}

TEST(PickleTest, TellsWhereItEnds) {
  const absl::StatusOr<Pickle> pickle = ReadPickle("N.more", {});
  ASSERT_TRUE(pickle.ok());
  EXPECT_EQ(pickle->end, 2u);
}

TEST(PickleTest, RefusesPicklesThatAreWrong) {
  for (const auto& [bytes, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "DATA_LOSS: offset 0: expected 1 bytes, got 0"},
           {"N", "offset 1: expected 1 bytes"},
           {".", "expected one value at the end, got 0"},
           {"NN.", "expected one value at the end, got 2"},
           {"(N.", "expected one value at the end"},
           {"K", "offset 0: expected 1 bytes"},
           {"X\xff\0\0\0a", "expected"},
           {"t.", "expected a mark"},
           {"]e.", "expected a mark"},
           {"N(K\1e.", "expected a list to add to"},
           {"](K\1u.", "expected keys with values, got 1"},
           {"](K\1K\2u.", "expected a dict to add to"},
           {"}(K\1u.", "expected keys with values, got 1"},
           {"h\5.", "expected a value kept as 5, got none"},
           {"q\5.", "expected a value to keep"},
           {"(q\5.", "expected a value to keep"},
           {"N(R.", "expected 2 values on the stack, got 0"},
           {"NNR.", "expected a function and a tuple"},
           {"cos\nsystem", "expected a line that ends"},
           {"NNb.", "expected an object to build"},
           {"U\1\xff.", "expected a string of UTF-8"},
           {"\x8a\x09"
            "123456789.",
            "UNIMPLEMENTED: offset 0: an integer of more than 8 bytes"},
           {"\x95", "UNIMPLEMENTED: offset 0: expected an operation of PyTorch's weights, got 149"},
           {"I1\n.", "UNIMPLEMENTED"},
           {"0.", "UNIMPLEMENTED"}}) {
    EXPECT_THAT(Read(bytes), HasSubstr(expected)) << bytes;
  }
}

TEST(PickleTest, KeepsToItsLimits) {
  EXPECT_THAT(Read("N.", {.max_metadata_bytes = 100}), HasSubstr("limits.max_metadata_bytes"));
  EXPECT_EQ(Read("N.", {.max_metadata_bytes = 200}), "None");
  const std::string many(100'000, 'N'), marks(100'000, '(');
  EXPECT_THAT(Read(many, {.max_metadata_bytes = 1'000'000}), HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_THAT(Read(marks, {.max_metadata_bytes = 100'000}), HasSubstr("RESOURCE_EXHAUSTED"));
  std::string places = "N";
  for (int i = 0; i < 10'000; ++i) {
    places += {'r', static_cast<char>(i & 255), static_cast<char>(i >> 8), 0, 0};
  }
  EXPECT_THAT(Read(places + ".", {.max_metadata_bytes = 300'000}), HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_EQ(Read(places + "."), "None");
}

// No value owns another one, so freeing values does not recurse.
TEST(PickleTest, TakesTuplesInTuples) {
  std::string bytes = "N";
  for (int i = 0; i < 300'000; ++i) bytes += '\x85';
  const absl::StatusOr<Pickle> pickle = ReadPickle(bytes + ".", {});
  ASSERT_TRUE(pickle.ok());
  EXPECT_EQ(pickle->values.size(), 300'001u);
}

}  // namespace
}  // namespace firn::io::internal

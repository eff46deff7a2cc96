#include "tensor/state_dict.h"

#include <gtest/gtest.h>

namespace firn {
namespace {

std::string KeysOf(const OrderedMap<int>& map) {
  std::string keys;
  for (const auto& [key, value] : map) keys += key;
  return keys;
}

TEST(OrderedMapTest, KeepsTheOrderOfInsertion) {
  OrderedMap<int> map = {{"b", 1}, {"c", 2}};
  map.Insert("a", 3);
  EXPECT_EQ(KeysOf(map), "bca");
  EXPECT_EQ(map["a"], 3);
  EXPECT_EQ(map.size(), 3u);
}

TEST(OrderedMapTest, FindsByName) {
  OrderedMap<int> map = {{"a", 1}};
  EXPECT_TRUE(map.Contains("a"));
  EXPECT_EQ(*map.Find("a"), 1);
  EXPECT_EQ(map.Find("b"), nullptr);
  EXPECT_THROW(map["b"], Error);
}

TEST(OrderedMapTest, RefusesANameThatIsTaken) {
  OrderedMap<int> map = {{"a", 1}};
  EXPECT_THROW(map.Insert("a", 2), Error);
  EXPECT_EQ(map["a"], 1);
  EXPECT_THROW((OrderedMap<int>{{"a", 1}, {"a", 2}}), Error);
}

TEST(OrderedMapTest, OverwritesInPlace) {
  OrderedMap<int> map = {{"a", 1}, {"b", 2}};
  map.Set("a", 5);
  map.Set("c", 6);
  EXPECT_EQ(KeysOf(map), "abc");
  EXPECT_EQ(map["a"], 5);
}

TEST(OrderedMapTest, FindsTheRestAfterAnErasure) {
  OrderedMap<int> map = {{"a", 1}, {"b", 2}, {"c", 3}};
  EXPECT_TRUE(map.Erase("a"));
  EXPECT_FALSE(map.Erase("a"));
  EXPECT_EQ(KeysOf(map), "bc");
  EXPECT_EQ(map["b"], 2);
  EXPECT_EQ(map["c"], 3);
}

}  // namespace
}  // namespace firn

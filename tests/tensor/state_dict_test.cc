#include "firn/tensor/state_dict.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/error_of.h"

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

TEST(OrderedMapTest, TakesOutThePartsThatWereInserted) {
  const OrderedMap<int> net = {{"fc.weight", 1}, {"bias", 2}}, optimizer = {{"lr", 3}};
  OrderedMap<int> all = {{"epoch", 0}};
  all.InsertAll("net", net);
  all.InsertAll("net2", optimizer);
  all.InsertAll("", {{"net", 4}});
  EXPECT_EQ(KeysOf(all), "epochnet.fc.weightnet.biasnet2.lrnet");
  EXPECT_EQ(KeysOf(all.Part("net")), "fc.weightbias");
  EXPECT_EQ(all.Part("net")["bias"], 2);
  EXPECT_EQ(KeysOf(all.Part("net.fc")), "weight");
  EXPECT_EQ(KeysOf(all.Part("net2")), "lr");
  EXPECT_EQ(all.Part("").size(), all.size());
  EXPECT_TRUE(all.Part("ne").empty());
}

TEST(OrderedMapTest, InsertsAllOrNothing) {
  OrderedMap<int> map = {{"part.b", 1}};
  EXPECT_EQ(testing::ErrorOf([&] {
              map.InsertAll("part", {{"a", 2}, {"b", 3}});
            }),
            "insert: there is an entry named part.b already");
  EXPECT_EQ(KeysOf(map), "part.b");
  EXPECT_EQ(map["part.b"], 1);
}

TEST(OrderedMapTest, MayBeInsertedIntoItself) {
  OrderedMap<int> map = {{"a", 1}, {"b", 2}};
  map.InsertAll("copy", map);
  EXPECT_EQ(KeysOf(map), "abcopy.acopy.b");
  EXPECT_EQ(map["copy.b"], 2);
}

TEST(OrderedMapTest, IsEmptyAndUsableOnceItWasMovedFrom) {
  OrderedMap<int> map = {{"a", 1}, {"b", 2}}, other = {{"c", 3}};
  const OrderedMap<int> taken = std::move(map);
  EXPECT_EQ(KeysOf(taken), "ab");
  EXPECT_TRUE(map.empty());  // NOLINT: this is the subject of the test
  EXPECT_FALSE(map.Contains("a"));
  map.Insert("b", 4);
  EXPECT_EQ(map["b"], 4);
  map = std::move(other);
  EXPECT_EQ(KeysOf(map), "c");
  EXPECT_FALSE(other.Erase("c"));  // NOLINT: as above
  EXPECT_EQ(other.Find("c"), nullptr);
}

}  // namespace
}  // namespace firn

#include "firn/io/json/internal/json_events.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

using ::testing::HasSubstr;

// Writes down all events; refuses the string "no".
class Notes final : public JsonEvents {
 public:
  absl::Status BeginObject() override { return Add("{"); }
  absl::Status Key(std::string name) override { return Add(name + ":"); }
  absl::Status EndObject() override { return Add("}"); }
  absl::Status BeginArray() override { return Add("["); }
  absl::Status EndArray() override { return Add("]"); }
  absl::Status String(std::string text) override {
    if (text == "no") return absl::InvalidArgumentError("refused");
    return Add("'" + text + "'");
  }
  absl::Status Whole(uint64_t value) override { return Add(absl::StrCat(value)); }
  absl::Status Number(double value, std::string_view text) override {
    return Add(absl::StrCat(value, "(", std::string(text), ")"));
  }
  absl::Status Bool(bool value) override { return Add(value ? "yes" : "not"); }
  absl::Status Null() override { return Add("null"); }

  std::string told;

 private:
  absl::Status Add(const std::string& what) {
    told += what + " ";
    return absl::OkStatus();
  }
};

std::string Read(std::string_view text, int max_depth = 8) {
  Notes notes;
  const absl::Status status = ReadJson(text, max_depth, &notes);
  return status.ok() ? notes.told : status.ToString();
}

TEST(JsonEventsTest, TellsWhatStandsThere) {
  EXPECT_EQ(Read(R"( {"a": [1, -2, 0.5, true, null], "b\u00e9\n": {}} )"),
            "{ a: [ 1 -2(-2) 0.5(0.5) yes null ] b\u00e9\n: { } } ");
  EXPECT_EQ(Read("18446744073709551615"), "18446744073709551615 ");
  EXPECT_THAT(Read("18446744073709551616"), HasSubstr("(18446744073709551616)"));
  EXPECT_EQ(Read("[1e0]"), "[ 1(1e0) ] ");
  EXPECT_EQ(Read(R"({"a":1,"a":2})"), "{ a: 1 a: 2 } ");
}

TEST(JsonEventsTest, RefusesWhatIsNoJson) {
  for (const std::string text :
       {"", " ", "{", "[1,]", "{\"a\":1,}", "[1] x", "// no\n[]", "[NaN]", "[Infinity]", "'a'",
        "[01]", "\xef\xbb\xbf[]", "\"\xff\"", "\"\\ud800\"", "\"a\nb\""}) {
    EXPECT_THAT(Read(text), HasSubstr("DATA_LOSS: byte ")) << text;
  }
  EXPECT_THAT(Read(std::string("[1]\0", 4)), HasSubstr("DATA_LOSS"));
}

TEST(JsonEventsTest, StopsAtItsLimitAndAtARefusal) {
  EXPECT_EQ(Read("[[[]]]", 3), "[ [ [ ] ] ] ");
  EXPECT_THAT(Read("[[[]]]", 2), HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_EQ(Read("[[],[],[]]", 2), "[ [ ] [ ] [ ] ] ");
  EXPECT_THAT(Read(std::string(1'000'000, '[')), HasSubstr("limits.max_depth"));
  EXPECT_THAT(Read(R"(["no", 1)"), HasSubstr("refused"));
}

}  // namespace
}  // namespace firn::io::internal

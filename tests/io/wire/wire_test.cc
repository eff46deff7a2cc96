#include "firn/io/wire/internal/wire.h"

#include <string>

#include "firn/io/monitors/internal/crc32c.h"
#include "firn/io/monitors/tfrecord.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The numbers of protobuf.dev/programming-guides/encoding.
TEST(WireTest, WritesWhatTheGuideShows) {
  EXPECT_EQ(WireWriter().Integer(1, 150).bytes(), "\x08\x96\x01");
  EXPECT_EQ(WireWriter().Bytes(2, "testing").bytes(), "\x12\x07testing");
  EXPECT_EQ(WireWriter().Message(3, WireWriter().Integer(1, 150)).bytes(), "\x1a\x03\x08\x96\x01");
  EXPECT_EQ(WireWriter().Integer(1, -2).bytes(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(WireTest, ReadsBackWhatItWrites) {
  WireWriter writer;
  writer.Integer(1, -5).Float(2, 0.5f).Double(300, -2.5).Bytes(4, "x").PackedDoubles(5, {1, 2});
  WireReader reader(writer.bytes());
  EXPECT_EQ(static_cast<int64_t>(reader.Next()->value), -5);
  EXPECT_EQ(reader.Next()->AsFloat(), 0.5f);
  const WireField number = *reader.Next();
  EXPECT_EQ(number.number, 300);
  EXPECT_EQ(number.AsDouble(), -2.5);
  EXPECT_EQ(reader.Next()->bytes, "x");
  std::vector<double> values;
  EXPECT_TRUE(AppendDoubles(*reader.Next(), &values).ok());
  EXPECT_TRUE(AppendDoubles(number, &values).ok());
  EXPECT_THAT(values, ElementsAre(1, 2, -2.5));
  EXPECT_TRUE(reader.AtEnd());
}

TEST(WireTest, NamesWhatIsNoField) {
  const std::pair<std::string, const char*> damaged[] = {
      {"\x80", "offset 0: expected an integer, got the end"},
      {std::string("\x08") + std::string(11, '\xff'), "offset 1: expected an integer, got one of"},
      {std::string(1, '\0'), "expected a field's number, got 0"},
      {"\x0d\x01", "offset 1: expected 4 bytes, got 1"},
      {"\x12\x05"
       "ab",
       "offset 2, field 2: expected 5 bytes, got 2"},
      {"\x0b", "offset 0, field 1: expected a type of 0, 1, 2 or 5, got 3"}};
  for (const auto& [bytes, expected] : damaged) {
    EXPECT_THAT(WireReader(bytes).Next().status().ToString(), HasSubstr(expected));
  }
  std::vector<double> values;
  const std::string odd = WireWriter().Bytes(6, "1234567").bytes();
  EXPECT_THAT(AppendDoubles(*WireReader(odd).Next(), &values).ToString(),
              HasSubstr("expected numbers of 8 bytes, got 7 bytes"));
}

TEST(WireTest, TakesNumbersPackedAndAlone) {
  const std::string bytes =
      WireWriter().Integer(1, 7).Bytes(1, "\x01\x96\x01").Bytes(1, "").Integer(1, -1).bytes();
  WireReader reader(bytes);
  std::vector<int64_t> values;
  const auto take = [&](uint64_t value) {
    values.push_back(static_cast<int64_t>(value));
    return absl::OkStatus();
  };
  while (!reader.AtEnd()) {
    ASSERT_TRUE(ForEachNumber(*reader.Next(), WireType::kVarint, take).ok());
  }
  EXPECT_THAT(values, ElementsAre(7, 1, 150, -1));
  const std::string cut = WireWriter().Bytes(1, "\x01\x96").bytes();
  EXPECT_THAT(ForEachNumber(*WireReader(cut, 100).Next(), WireType::kVarint, take).ToString(),
              HasSubstr("offset 103: expected an integer, got the end"));
  const std::string other = WireWriter().Float(1, 1).bytes();
  EXPECT_THAT(ForEachNumber(*WireReader(other).Next(), WireType::kVarint, take).ToString(),
              HasSubstr("expected numbers of type 0, got one of 5"));
}

// Protobuf's own libraries refuse these, too.
TEST(WireTest, RefusesTagsAndLengthsOfMoreThanFiveBytes) {
  const std::string five = std::string("\x88\x80\x80\x80\x00\x07", 6);
  EXPECT_EQ(WireReader(five).Next()->value, 7u);
  const std::string tag = std::string("\x88\x80\x80\x80\x80\x00\x07", 7);
  EXPECT_THAT(WireReader(tag).Next().status().ToString(), HasSubstr("of more than five bytes"));
  const std::string length = std::string("\x0a\x81\x80\x80\x80\x80\x00x", 8);
  EXPECT_THAT(WireReader(length).Next().status().ToString(), HasSubstr("of more than five bytes"));
}

TEST(WireTest, WritesMessagesInTheirPlace) {
  WireWriter writer;
  const size_t outer = writer.Begin(3);
  writer.Integer(1, 150);
  const size_t inner = writer.Begin(2);
  writer.Bytes(1, std::string(200, 'x'));
  writer.End(inner);
  writer.End(writer.Begin(4));
  writer.End(outer);
  WireWriter copied;
  copied.Message(3, WireWriter()
                        .Integer(1, 150)
                        .Message(2, WireWriter().Bytes(1, std::string(200, 'x')))
                        .Bytes(4, ""));
  EXPECT_EQ(writer.bytes(), copied.bytes());
}

// RFC 3720, B.4.
TEST(Crc32cTest, IsThatOfTheStandard) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(MaskedCrc32c("123456789"), ((0xe3069283u >> 15) | (0xe3069283u << 17)) + 0xa282ead8u);
}

absl::StatusOr<std::optional<std::string>> First(const std::string& bytes, int64_t limit = 100) {
  const auto file = RandomAccess::FromMemory(
      "f", {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  return RecordReader(*file).Next(limit);
}

TEST(RecordsTest, ReadsWholeRecordsAndNamesDamage) {
  const std::string record = RecordOf("abc");
  EXPECT_EQ(record.size(), 12u + 3 + 4);
  EXPECT_EQ(First(record)->value(), "abc");
  for (size_t n = 0; n < record.size(); ++n) {
    EXPECT_EQ(*First(record.substr(0, n)), std::nullopt) << n;
  }
  std::string damaged = record;
  damaged[0] = 4;
  EXPECT_THAT(First(damaged).status().ToString(),
              HasSubstr("f: offset 0, record length: expected"));
  damaged = record;
  damaged[12] = 'x';
  EXPECT_THAT(First(damaged).status().ToString(), HasSubstr("f: offset 12, record: expected"));
  EXPECT_EQ(First(record, 2).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace firn::io::internal

// Archives made by hand, field by field: consistent ones are read; for others the error names the
// inconsistency. Through TryParseNpz, the reader of such files.
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/npy/npy_status.h"
#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kOnes = 0xffffffff;

std::string Le(uint64_t v, int bytes) {
  std::string s;
  for (int i = 0; i < bytes; ++i, v >>= 8) s += static_cast<char>(v & 255);
  return s;
}

// The fields of a member's header.
struct Fields {
  uint64_t flags = 0, method = 0, crc = 0, stored = 0, size = 0;
  std::string extra = {};

  std::string Common(const std::string& name) const {
    return Le(20, 2) + Le(flags, 2) + Le(method, 2) + Le(0x00210000, 4) + Le(crc, 4) +
           Le(stored, 4) + Le(size, 4) + Le(name.size(), 2) + Le(extra.size(), 2);
  }
};

struct Member {
  std::string name, data;
  Fields local = {}, entry = {};
  std::string descriptor = {};

  std::string LocalHeader() const {
    return Le(0x04034b50, 4) + local.Common(name) + name + local.extra;
  }
};

Member Array(const std::string& name, std::vector<float> values) {
  Member m{.name = name + ".npy", .data = *TryFormatNpy(FromVector(std::move(values)))};
  m.local.crc = crc32_z(0, reinterpret_cast<const Bytef*>(m.data.data()), m.data.size());
  m.local.stored = m.local.size = m.data.size();
  m.entry = m.local;
  return m;
}

std::string Entry(const Member& m, size_t local_at) {
  return Le(0x02014b50, 4) + Le(20, 2) + m.entry.Common(m.name) + Le(0, 10) + Le(local_at, 4) +
         m.name + m.entry.extra;
}

std::string Archive(const std::string& members, const std::string& directory, int count) {
  return members + directory + Le(0x06054b50, 4) + Le(0, 4) + Le(count, 2) + Le(count, 2) +
         Le(directory.size(), 4) + Le(members.size(), 4) + Le(0, 2);
}

std::string Archive(const std::vector<Member>& members) {
  std::string front, directory;
  for (const Member& m : members) {
    directory += Entry(m, front.size());
    front += m.LocalHeader() + m.data + m.descriptor;
  }
  return Archive(front, directory, static_cast<int>(members.size()));
}

absl::Status StatusOf(const std::string& archive) { return TryParseNpz(archive, "a.npz").status(); }

std::string Error(const std::vector<Member>& members) {
  return std::string(StatusOf(Archive(members)).message());
}

std::string Descriptor(const Fields& f, int width, bool is_signed) {
  return (is_signed ? Le(0x08074b50, 4) : "") + Le(f.crc, 4) + Le(f.stored, width) +
         Le(f.size, width);
}

// A member from a writer that cannot go back in its file.
Member Streamed(int width, bool is_signed) {
  Member m = Array("x", {1, 2, 3});
  m.descriptor = Descriptor(m.entry, width, is_signed);
  m.local = {.flags = 8};
  m.entry.flags = 8;
  if (width == 8) {
    m.local.stored = m.local.size = kOnes;
    m.local.extra = Le(1, 2) + Le(16, 2) + Le(0, 16);
  }
  return m;
}

TEST(ZipTest, ReadsMembersWithAndWithoutDescriptors) {
  std::vector<std::vector<Member>> archives = {{Array("x", {1, 2, 3})}};
  for (const int width : {4, 8}) {
    for (const bool is_signed : {false, true}) {
      archives.push_back({Streamed(width, is_signed)});
      archives.push_back({Streamed(width, is_signed), Array("y", {4})});
    }
  }
  // An archive as numpy.savez writes it: sizes are in a zip64 field although they would fit
  // elsewhere.
  Member wide = Array("x", {1, 2, 3});
  wide.local.extra = Le(1, 2) + Le(16, 2) + Le(wide.local.size, 8) + Le(wide.local.stored, 8);
  archives.push_back({wide});
  wide.local.size = wide.local.stored = kOnes;
  archives.push_back({wide});
  for (const std::vector<Member>& members : archives) {
    const absl::StatusOr<StateDict> arrays = TryParseNpz(Archive(members), "a.npz");
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    EXPECT_EQ(arrays->size(), members.size());
    EXPECT_TRUE((*arrays)["x"].Equals(FromValues({1.f, 2.f, 3.f})));
  }
}

TEST(ZipTest, LocalHeadersMustSayWhatTheDirectorySays) {
  const auto changed = [](uint64_t Fields::*field, uint64_t value) {
    std::vector<Member> members = {Array("x", {1}), Array("y", {2, 3})};
    members[1].local.*field = value;
    return Error(members);
  };
  const Member x = Array("x", {1}), y = Array("y", {2, 3});
  const size_t at = x.LocalHeader().size() + x.data.size();
  const auto offset = [&](size_t n) { return "a.npz: offset " + std::to_string(at + n) + ", "; };
  EXPECT_EQ(changed(&Fields::flags, 0), "");
  EXPECT_EQ(changed(&Fields::crc, 7), offset(14) + "local header's checksum: expected " +
                                          std::to_string(y.local.crc) +
                                          " as in the directory, got 7");
  EXPECT_THAT(changed(&Fields::crc, 0), HasSubstr("local header's checksum"));
  EXPECT_THAT(changed(&Fields::stored, 3),
              HasSubstr(offset(18) + "local header's stored bytes: expected 136 as in the "
                                     "directory, got 3"));
  EXPECT_THAT(changed(&Fields::size, 0), HasSubstr(offset(22) + "local header's size: expected"));
  EXPECT_THAT(
      changed(&Fields::method, 8),
      HasSubstr(offset(8) + "local header's method: expected 0 as in the directory, got 8"));
  EXPECT_THAT(changed(&Fields::method, 99), HasSubstr("local header's method"));
  EXPECT_THAT(changed(&Fields::flags, 1), HasSubstr(offset(6) + "local header's flags"));
  EXPECT_THAT(changed(&Fields::size, kOnes), HasSubstr("expected a zip64 field"));
  std::vector<Member> wide = {Array("x", {1})};
  wide[0].local.size = wide[0].local.stored = kOnes;
  wide[0].local.extra = Le(1, 2) + Le(16, 2) + Le(5, 8) + Le(wide[0].data.size(), 8);
  EXPECT_THAT(Error(wide), HasSubstr("offset 22, local header's size: expected 132"));
}

TEST(ZipTest, DescriptorsMustSayWhatTheDirectorySays) {
  for (const int width : {4, 8}) {
    for (const bool is_signed : {false, true}) {
      const std::string before = is_signed ? Le(0x08074b50, 4) : "";
      Member m = Streamed(width, is_signed);
      const size_t at = m.LocalHeader().size() + m.data.size() + before.size();
      const auto error = [&](size_t n, Fields wrong) {
        m.descriptor = Descriptor(wrong, width, is_signed);
        const std::string text = Error({m});
        EXPECT_THAT(text, HasSubstr("offset " + std::to_string(at + n) + ", data descriptor's"));
        return text;
      };
      Fields wrong = m.entry;
      wrong.crc = 5;
      EXPECT_THAT(error(0, wrong), HasSubstr("checksum: expected"));
      wrong = m.entry;
      wrong.stored = 5;
      EXPECT_THAT(error(4, wrong),
                  HasSubstr("stored bytes: expected 140 as in the directory, got"));
      wrong = m.entry;
      wrong.size = 5;
      EXPECT_THAT(error(4 + static_cast<size_t>(width), wrong), HasSubstr("size: expected 140"));
      m.descriptor.resize(5);
      EXPECT_THAT(Error({m}), HasSubstr("data descriptor: expected"));
    }
  }
  Member y = Streamed(4, true);  // whose local header has a checksum, and a wrong one
  y.local.crc = 5;
  EXPECT_THAT(Error({y}), HasSubstr("offset 14, local header's checksum"));
}

TEST(ZipTest, TellsDamageFromWhatIsNotRead) {
  const auto code = [](uint64_t Fields::*field, uint64_t value) {
    Member m = Array("x", {1});
    m.local.*field = m.entry.*field = value;
    return StatusOf(Archive({m})).code();
  };
  for (const uint64_t flags : {1u, 1u << 5, 1u << 6, 1u << 13}) {
    EXPECT_EQ(code(&Fields::flags, flags), absl::StatusCode::kUnimplemented) << flags;
  }
  for (const uint64_t method : {1, 9, 12, 14, 93}) {
    EXPECT_EQ(code(&Fields::method, method), absl::StatusCode::kUnimplemented) << method;
  }
  EXPECT_EQ(code(&Fields::crc, 1), absl::StatusCode::kDataLoss);
  const std::string whole = Archive({Array("long", {1})});
  EXPECT_EQ(TryParseNpz(whole, "a.npz", {.limits = {.max_name_bytes = 3}}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(TryParseNpz(whole, "a.npz", {.limits = {.max_tensors = 0}}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

// The locator tells where the end is, and the end how long it is: together they fill the place.
TEST(ZipTest, Zip64EndsReachTheLocator) {
  const Member m = Array("x", {1, 2});
  const std::string front = m.LocalHeader() + m.data, directory = Entry(m, 0);
  const auto archive = [&](uint64_t bytes, const std::string& more, bool ones) {
    const uint64_t at = front.size() + directory.size();
    return front + directory + Le(0x06064b50, 4) + Le(bytes, 8) + Le(45, 2) + Le(45, 2) + Le(0, 8) +
           Le(1, 8) + Le(1, 8) + Le(directory.size(), 8) + Le(front.size(), 8) + more +
           Le(0x07064b50, 4) + Le(0, 4) + Le(at, 8) + Le(1, 4) + Le(0x06054b50, 4) + Le(0, 4) +
           Le(1, 2) + Le(1, 2) + Le(ones ? kOnes : directory.size(), 4) +
           Le(ones ? kOnes : front.size(), 4) + Le(0, 2);
  };
  for (const bool ones : {true, false}) {
    EXPECT_TRUE(StatusOf(archive(44, "", ones)).ok()) << StatusOf(archive(44, "", ones));
    EXPECT_TRUE(StatusOf(archive(48, "more", ones)).ok());
    for (const absl::Status& status :
         {StatusOf(archive(44, "more", ones)), StatusOf(archive(43, "", ones))}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(std::string(status.message()), HasSubstr("zip64 end"));
    }
  }
}

TEST(ZipTest, RefusesNamesThatOccurTwice) {
  EXPECT_EQ(Error({Array("x", {1}), Array("y", {2})}), "");
  EXPECT_THAT(Error({Array("x", {1}), Array("x", {2})}),
              HasSubstr("member's name: expected a new one of 1 to 4096 bytes, got \"x.npy\""));
  Member empty = Array("", {2});
  empty.name = "";
  EXPECT_THAT(Error({empty}), HasSubstr("member's name: expected a new one"));
}

TEST(ZipTest, RefusesEncryptedMembers) {
  for (const int bit : {0, 6, 13}) {
    Member m = Array("x", {1});
    m.entry.flags = uint64_t{1} << bit;
    const absl::Status status = StatusOf(Archive({m}));
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << bit;
    EXPECT_THAT(std::string(status.message()), HasSubstr("member \"x.npy\" is encrypted"));
  }
}

// Members that overlap make files that unpack to far more than their size.
TEST(ZipTest, RefusesMembersThatOverlap) {
  const Member inner = Array("y", {2});
  const std::string inside = inner.LocalHeader() + inner.data;
  Member outer = Array("x", {1});
  outer.data += inside;  // any bytes, for its elements are never looked at
  outer.local.crc =
      crc32_z(0, reinterpret_cast<const Bytef*>(outer.data.data()), outer.data.size());
  outer.local.stored = outer.local.size = outer.data.size();
  outer.entry = outer.local;
  const std::string front = outer.LocalHeader() + outer.data;
  const size_t inner_at = front.size() - inside.size();
  for (const bool turned : {false, true}) {
    const std::string a = Entry(outer, 0), b = Entry(inner, inner_at);
    EXPECT_THAT(std::string(StatusOf(Archive(front, turned ? b + a : a + b, 2)).message()),
                HasSubstr("offset " + std::to_string(inner_at) + ", member: two members overlap"));
  }
  // A descriptor is a part of its member.
  const Member streamed = Streamed(4, true);
  const std::string all = streamed.LocalHeader() + streamed.data + streamed.descriptor;
  EXPECT_THAT(
      std::string(
          StatusOf(Archive(all, Entry(streamed, 0) + Entry(inner, all.size() - 4), 2)).message()),
      HasSubstr("two members overlap"));
}

}  // namespace
}  // namespace firn::io

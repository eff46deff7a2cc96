// Archives whose sizes and places stand in zip64 fields. With a limit of a few bytes in place of 4
// GB, small archives are written as large ones are; zip64_python_test has other readers read them.
#include <string>
#include <vector>

#include "firn/device/atomic_file.h"
#include "firn/io/npy/npy.h"
#include "firn/io/random_access.h"
#include "firn/io/zip/internal/zip.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::inner::internal::AtomicFile;

struct Content {
  std::string name, bytes;
};

absl::Status WriteZip(const std::string& path, const std::vector<Content>& contents, bool deflate,
                      uint64_t narrow) {
  auto out = AtomicFile::Create(path);
  if (!out.ok()) return out.status();
  internal::ZipWriter zip(&*out, narrow);
  for (const Content& c : contents) {
    const absl::Status status = zip.Add(c.name, c.bytes, deflate);
    if (!status.ok()) return status;
  }
  const absl::Status status = zip.Finish();
  return status.ok() ? out->Commit() : status;
}

bool Has(const std::string& path, const std::string& signature) {
  return ReadFile(path).find(signature) != std::string::npos;
}

// With each limit: members above and below it, that begin before and behind it, compressed or not.
TEST(Zip64Test, ReadsWhatItWrites) {
  const std::vector<Content> contents = {
      {"short", "12"}, {"zeros", std::string(500, '\0')}, {"", ""}, {"last", "the end"}};
  const std::string path = TempPath("a.zip");
  for (const bool deflate : {false, true}) {
    for (uint64_t narrow = 0; narrow < 1200; narrow += 53) {
      std::vector<Content> named = contents;
      named[2].name = "empty";
      ASSERT_TRUE(WriteZip(path, named, deflate, narrow).ok());
      const auto file = RandomAccess::Open(path);
      ASSERT_TRUE(file.ok());
      const auto zip = internal::ZipReader::Open(**file, {});
      ASSERT_TRUE(zip.ok()) << narrow << ": " << zip.status();
      ASSERT_EQ(zip->members().size(), named.size());
      for (size_t i = 0; i < named.size(); ++i) {
        EXPECT_EQ(zip->members()[i].name, named[i].name);
        const auto bytes = zip->Read(zip->members()[i]);
        ASSERT_TRUE(bytes.ok()) << narrow << ": " << bytes.status();
        EXPECT_EQ(*bytes, named[i].bytes);
      }
    }
  }
}

TEST(Zip64Test, OldReadersReadWhatNeedsNone) {
  const std::string path = TempPath("a.zip"), locator = "PK\x06\x07";
  ASSERT_TRUE(WriteZip(path, {{"x", "1"}}, false, 0xffffffff).ok());
  EXPECT_FALSE(Has(path, locator));
  ASSERT_TRUE(WriteZip(path, {{"x", "1"}}, false, 10).ok());
  EXPECT_TRUE(Has(path, locator));
}

TEST(Zip64Test, HoldsMoreMembersThan16BitsCount) {
  std::vector<Content> contents;
  for (int i = 0; i < 65536; ++i) contents.push_back({std::to_string(i), ""});
  ASSERT_TRUE(WriteZip(TempPath("many.zip"), contents, false, 0xffffffff).ok());
  const auto file = RandomAccess::Open(TempPath("many.zip"));
  ASSERT_TRUE(file.ok());
  const auto zip = internal::ZipReader::Open(**file, {});
  ASSERT_TRUE(zip.ok()) << zip.status();
  EXPECT_EQ(zip->members().size(), contents.size());
}

// Run by hand, since it takes 5 GB of the disk and 10 GB of memory: --gtest_also_run_disabled_tests
TEST(Zip64Test, DISABLED_ArraysBeyond4GB) {
  const int64_t n = (int64_t{1} << 30) + 100;
  WriteNpz(TempPath("large.npz"), {{"x", Zeros({n})}, {"y", Ones({3})}});
  const StateDict arrays = ReadNpz(TempPath("large.npz"));
  EXPECT_EQ(arrays["x"].num_elements(), n);
  EXPECT_TRUE(arrays["y"].Equals(Ones({3})));
}

}  // namespace
}  // namespace firn::io

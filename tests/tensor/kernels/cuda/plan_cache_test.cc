// The file of plans: what is read back, what is refused, and which of several writers wins.
#include "firn/tensor/kernels/cuda/plan_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace firn::cuda {
namespace {

namespace fs = std::filesystem;

class PlanCacheTest : public ::testing::Test {
 protected:
  PlanCacheTest() {
    folder_ = fs::path(::testing::TempDir()) /
              absl::StrCat("plans_", getpid(), "_",
                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
  }
  ~PlanCacheTest() override {
    std::error_code error;
    fs::permissions(folder_, fs::perms::owner_all, error);
    fs::remove_all(folder_, error);
  }

  std::string path() const { return (folder_ / "sub" / "plans").string(); }
  std::string Bytes() const {
    std::ostringstream bytes;
    bytes << std::ifstream(path(), std::ios::binary).rdbuf();
    return bytes.str();
  }
  void Write(const std::string& bytes) const {
    fs::create_directories(fs::path(path()).parent_path());
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  // A file with two entries.
  void WriteSound() const {
    PlanCache cache(path());
    cache.Add("a", "1");
    cache.Add("b", "2");
    cache.Save();
  }
  // The plan that a new process finds under "a", and its text on stderr.
  std::optional<std::string> FindA(std::string* said) const {
    ::testing::internal::CaptureStderr();
    PlanCache cache(path());
    std::optional<std::string> found = cache.Find("a");
    cache.Find("b");
    *said = ::testing::internal::GetCapturedStderr();
    return found;
  }
  std::string Warning() const {
    return absl::StrCat("firn: ignoring ", path(), ": damaged, or written by another version\n");
  }

  fs::path folder_;
};

TEST_F(PlanCacheTest, WhatWasAddedComesBackInAnotherProcess) {
  const std::string odd("k\0\n=|\xff", 7);
  {
    PlanCache cache(path());
    EXPECT_EQ(cache.Find("a"), std::nullopt);
    cache.Add("a", "first");
    cache.Add("a", "1");
    cache.Add(odd, std::string(PlanCache::kMaxValue, 'v'));
    cache.Add("empty", "");
    EXPECT_FALSE(fs::exists(path())) << "before it is saved";
    cache.Save();
  }
  PlanCache cache(path());
  EXPECT_EQ(cache.Find("a"), "1");
  EXPECT_EQ(cache.Find(odd), std::string(PlanCache::kMaxValue, 'v'));
  EXPECT_EQ(cache.Find("empty"), "");
  EXPECT_EQ(cache.Find("A"), std::nullopt);
  EXPECT_EQ(cache.Find(""), std::nullopt);
}

TEST_F(PlanCacheTest, FindKeepsToWhatTheFileSaid) {
  WriteSound();
  PlanCache cache(path());
  cache.Add("a", "new");
  cache.Add("c", "3");
  EXPECT_EQ(cache.Find("a"), "1");
  EXPECT_EQ(cache.Find("c"), std::nullopt);
  EXPECT_EQ(cache.FindNewest("a"), "new");
  EXPECT_EQ(cache.FindNewest("b"), "2");
  EXPECT_EQ(cache.FindNewest("c"), "3");
}

TEST_F(PlanCacheTest, AnyChangedByteMakesTheFileIgnoredAndReplaced) {
  WriteSound();
  const std::string sound = Bytes();
  for (size_t i = 0; i < sound.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      Write(damaged);
      std::string said;
      EXPECT_EQ(FindA(&said), std::nullopt) << "byte " << i << " bit " << bit;
      EXPECT_EQ(said, Warning());
    }
  }
  ::testing::internal::CaptureStderr();
  PlanCache cache(path());
  cache.Find("a");
  cache.Add("c", "3");
  cache.Save();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), Warning()) << "once";
  EXPECT_EQ(PlanCache(path()).Find("c"), "3");
  EXPECT_EQ(PlanCache(path()).Find("a"), std::nullopt);
}

TEST_F(PlanCacheTest, AnyTruncatedFileIsIgnored) {
  WriteSound();
  const std::string sound = Bytes();
  for (size_t size = 0; size < sound.size(); ++size) {
    Write(sound.substr(0, size));
    std::string said;
    EXPECT_EQ(FindA(&said), std::nullopt) << size << " bytes";
    EXPECT_EQ(said, Warning());
  }
  Write(sound + "x");
  std::string said;
  EXPECT_EQ(FindA(&said), std::nullopt);
  Write(sound);
  EXPECT_EQ(FindA(&said), "1");
  EXPECT_EQ(said, "");
}

// The CRC-32 of zlib, written out: the maker of a hostile file can compute it as well.
uint32_t Crc(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}
std::string Number(uint32_t n) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(n >> shift));
  return bytes;
}
std::string FileOf(const std::string& body, const std::string& magic = "firn plans 2\n") {
  return magic + Number(Crc(body)) + body;
}

TEST_F(PlanCacheTest, LengthsAreNotBelievedEvenWithARightChecksum) {
  const std::string entry = Number(1) + Number(1) + "a1";
  std::string said;
  Write(FileOf(Number(1) + entry));
  ASSERT_EQ(FindA(&said), "1") << "this is how a sound one is made";
  const std::string long_key = Number(1025) + Number(1) + std::string(1025, 'a') + "1";
  const std::string long_value = Number(1) + Number(1025) + "a" + std::string(1025, '1');
  for (const std::string& body :
       {Number(2) + entry, Number(~0u) + entry, Number(0) + entry, Number(1) + long_key,
        Number(1) + long_value, Number(1) + Number(~0u) + Number(1) + "a1",
        Number(1) + Number(1) + Number(~0u) + "a1", Number(1) + Number(2) + Number(1) + "a1",
        Number(1) + entry + "x", std::string()}) {
    Write(FileOf(body));
    EXPECT_EQ(FindA(&said), std::nullopt);
    EXPECT_EQ(said, Warning());
  }
  Write(FileOf(Number(1) + entry, "firn plans 1\n"));
  EXPECT_EQ(FindA(&said), std::nullopt) << "another version";
}

TEST_F(PlanCacheTest, AHugeFileIsNotRead) {
  Write("");
  fs::resize_file(path(), uintmax_t{1} << 40);  // a hole: takes no room
  std::string said;
  EXPECT_EQ(FindA(&said), std::nullopt);
  EXPECT_EQ(said, Warning());
}

TEST_F(PlanCacheTest, WhatIsNoFileIsNoCache) {
  fs::create_directories(fs::path(path()));  // a folder in its place
  std::string said;
  EXPECT_EQ(FindA(&said), std::nullopt);
  EXPECT_EQ(said, "");
  fs::remove(path());
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(FindA(&said), std::nullopt) << "without waiting for a writer";
}

TEST_F(PlanCacheTest, WithoutAPlaceForAFileThereIsNone) {
  ::testing::internal::CaptureStderr();
  Write("");
  for (const std::string& unwritable :
       {std::string(), path() + "/plans", std::string("/proc/x/p")}) {
    PlanCache cache(unwritable);
    cache.Add("a", "1");
    cache.Save();
    EXPECT_EQ(cache.FindNewest("a"), "1");
    EXPECT_EQ(PlanCache(unwritable).Find("a"), std::nullopt);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(PlanCacheTest, WhatIsTooLongIsNotKept) {
  PlanCache cache(path());
  cache.Add(std::string(PlanCache::kMaxKey + 1, 'k'), "1");
  cache.Add("k", std::string(PlanCache::kMaxValue + 1, '1'));
  EXPECT_EQ(cache.FindNewest("k"), std::nullopt);
  cache.Save();
  EXPECT_FALSE(fs::exists(path())) << "nothing to save";
}

TEST_F(PlanCacheTest, AFullCacheKeepsWhatWasAddedLast) {
  {
    PlanCache cache(path());
    for (size_t i = 0; i < PlanCache::kMaxEntries + 5; ++i) cache.Add(absl::StrCat("k", i), "1");
    EXPECT_EQ(cache.FindNewest(absl::StrCat("k", PlanCache::kMaxEntries)), std::nullopt);
    cache.Save();
  }
  {
    PlanCache cache(path());
    EXPECT_EQ(cache.Find("k0"), "1");
    cache.Add("new", "2");
    cache.Save();
  }
  PlanCache cache(path());
  EXPECT_EQ(cache.Find("new"), "2");
}

TEST_F(PlanCacheTest, ManyAdditionsCostOneFile) {
  PlanCache seldom(path(), std::chrono::hours(1));
  seldom.Add("a", "1");
  seldom.SaveNowAndThen();
  EXPECT_FALSE(fs::exists(path()));
  PlanCache often(path(), std::chrono::milliseconds(0));
  often.Add("b", "1");
  often.SaveNowAndThen();
  EXPECT_EQ(PlanCache(path()).Find("b"), "1");
  seldom.Save();
  EXPECT_EQ(PlanCache(path()).Find("a"), "1");
}

TEST_F(PlanCacheTest, OfTwoWritersTheLastWinsAndKeepsTheOthersEntries) {
  WriteSound();
  PlanCache first(path()), second(path());
  EXPECT_EQ(first.Find("a"), "1");
  EXPECT_EQ(second.Find("a"), "1");
  first.Add("a", "first");
  first.Add("only first", "x");
  first.Save();
  second.Add("a", "second");
  second.Add("only second", "y");
  second.Save();
  PlanCache after(path());
  EXPECT_EQ(after.Find("a"), "second");
  EXPECT_EQ(after.Find("b"), "2");
  EXPECT_EQ(after.Find("only first"), "x");
  EXPECT_EQ(after.Find("only second"), "y");
}

// A short file and a long one take each other's place while they are read.
TEST_F(PlanCacheTest, AFileThatIsReplacedMeanwhileIsReadAsOneOrTheOther) {
  WriteSound();
  const std::string small = Bytes();
  {
    PlanCache cache(path());
    cache.Add("long", std::string(PlanCache::kMaxValue, 'x'));
    cache.Save();
  }
  const std::string large = Bytes();
  std::atomic<bool> done = false;
  std::thread writer([&] {
    const std::string beside = path() + ".new";
    for (bool longer = false; !done; longer = !longer) {
      std::ofstream(beside, std::ios::binary) << (longer ? large : small);
      fs::rename(beside, path());
    }
  });
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 20000; ++i) EXPECT_EQ(PlanCache(path()).Find("a"), "1");
  done = true;
  writer.join();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(PlanCacheTest, WritersAtTheSameTimeLeaveASoundFile) {
  ::testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 8; ++i) {
        PlanCache cache(path());
        cache.Add(absl::StrCat(t, ".", i), "1");
        cache.Save();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  PlanCache cache(path());
  EXPECT_EQ(cache.Find("0.7") || cache.Find("1.7") || cache.Find("2.7") || cache.Find("3.7"), true);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ / "sub")) ++files;
  EXPECT_EQ(files, 1u) << "no temporary files stay";
}

}  // namespace
}  // namespace firn::cuda

#include "firn/device/first_touch.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "firn/device/internal/slab_source.h"
#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

constexpr int64_t kAnyTime = std::numeric_limits<int64_t>::max();
constexpr int64_t kNoTime = -1;

// New memory of 8 huge pages, from a huge page's boundary on, for which huge pages are requested.
class Mapped {
 public:
  static constexpr size_t kBytes = 8 * kHugePageBytes;
  Mapped()
      : mapping_(static_cast<char*>(mmap(nullptr, kBytes + kHugePageBytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    data = mapping_ + -reinterpret_cast<uintptr_t>(mapping_) % kHugePageBytes;
    madvise(data, kBytes, MADV_HUGEPAGE);
  }
  ~Mapped() { munmap(mapping_, kBytes + kHugePageBytes); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  char* data;

 private:
  char* const mapping_;
};

// What the system says of the memory at this address: words such as "hg" and "nh"; "" if it does
// not say.
std::string FlagsOf(const char* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto at = reinterpret_cast<uintptr_t>(address);
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (std::istringstream words(line); words >> std::hex >> begin >> dash >> end && dash == '-') {
      here = begin <= at && at < end;
    }
    if (here && line.starts_with("VmFlags:")) return line;
  }
  return "";
}

bool Has(const char* address, const std::string& flag) {
  return FlagsOf(address).find(" " + flag) != std::string::npos;
}

// This is one test, since the process remembers for how long it asks for no huge pages.
TEST(FirstTouchTest, GivesHugePagesUpForAWhileWhereTheyAreSlow) {
  const Mapped first, second, third;
  if (!Has(first.data, "hg")) GTEST_SKIP() << "the system has no huge pages";
  const char* const last = first.data + 7 * kHugePageBytes;
  {
    FirstTouch quick(first.data, Mapped::kBytes, kAnyTime);
    quick.Reach(first.data + Mapped::kBytes);
    EXPECT_TRUE(Has(first.data, "hg"));
    EXPECT_TRUE(Has(last, "hg"));
  }
  {
    FirstTouch slow(second.data, Mapped::kBytes, kNoTime);
    slow.Reach(second.data + 1);
    EXPECT_TRUE(Has(second.data, "hg"));  // the time is known only afterwards
    slow.Reach(second.data + Mapped::kBytes);
    EXPECT_TRUE(Has(second.data, "hg"));
    EXPECT_TRUE(Has(second.data + kHugePageBytes, "nh"));
    EXPECT_TRUE(Has(second.data + 7 * kHugePageBytes, "nh"));
  }
  EXPECT_TRUE(Has(second.data + kHugePageBytes, "hg"));  // for later
  {
    FirstTouch after(third.data, Mapped::kBytes, kAnyTime);
    after.Reach(third.data + 1);
    EXPECT_TRUE(Has(third.data, "nh"));
  }
  for (int i = 0; i < 8; ++i) {  // 64 in all
    const Mapped more;
    FirstTouch after(more.data, Mapped::kBytes, kAnyTime);
    after.Reach(more.data + Mapped::kBytes);
    EXPECT_EQ(Has(more.data + 7 * kHugePageBytes, "nh"), i < 6) << i;
  }
}

TEST(FirstTouchTest, WritesNothingOutsideOfTheMemory) {
  const Mapped all;
  std::fill_n(all.data, Mapped::kBytes, 'x');
  char* const begin = all.data + 100;
  const size_t bytes = 3 * kHugePageBytes;  // of which two are whole
  {
    FirstTouch touch(begin, bytes, kNoTime);
    touch.Reach(begin + bytes);
    touch.Reach(begin + bytes);
  }
  EXPECT_EQ(std::count(all.data, begin, 'x'), 100);
  EXPECT_EQ(std::count(begin + bytes, all.data + Mapped::kBytes, 'x'),
            static_cast<std::ptrdiff_t>(Mapped::kBytes - bytes - 100));
  FirstTouch small(begin, 1000, kNoTime);
  small.Reach(begin + 1000);
  EXPECT_EQ(std::count(begin, begin + 1000, 'x'), 1000);
}

}  // namespace
}  // namespace firn::inner::internal

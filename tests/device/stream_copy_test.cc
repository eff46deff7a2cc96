// Copies past the caches are copies, wherever they begin and end.
#include "device/stream_copy.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace firn {
namespace {

TEST(StreamCopyTest, CopiesAnySizeToAnyPlaceAndNothingBeside) {
  std::vector<uint8_t> from(400);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + 1);
  for (const size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 200, 256}) {
    for (const size_t from_at : {0, 1, 32}) {
      for (size_t at = 0; at < 70; at += 3) {
        std::vector<uint8_t> got(400, 200), want = got;
        StreamCopy(got.data() + at, from.data() + from_at, static_cast<int64_t>(bytes));
        FinishStream();
        for (size_t i = 0; i < bytes; ++i) want[at + i] = from[from_at + i];
        ASSERT_EQ(got, want) << bytes << " bytes from " << from_at << " to " << at;
      }
    }
  }
}

TEST(StreamCopyTest, AnotherThreadReadsWhatIsFinished) {
  const std::vector<int> from(1 << 16, 5);
  std::vector<int> to(1 << 16);
  std::thread([&] {
    StreamCopy(to.data(), from.data(), int64_t{4} << 16);
    FinishStream();
  }).join();
  EXPECT_EQ(to, from);
}

TEST(StreamCopyTest, RowsThatAreAskedForNeedNotBeMemory) {
  PrefetchRows(nullptr, int64_t{1} << 40, 100, 1000);  // does not fault
}

}  // namespace
}  // namespace firn

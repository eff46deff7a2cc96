// Copies past the caches are copies, wherever they begin and end.
#include "firn/device/non_temporal_copy.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace firn {
namespace {

TEST(NonTemporalCopyTest, CopiesAnySizeToAnyPlaceAndNothingBeside) {
  std::vector<uint8_t> from(400);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + 1);
  for (const size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 200, 256}) {
    for (const size_t from_at : {0, 1, 32}) {
      for (size_t at = 0; at < 70; at += 3) {
        std::vector<uint8_t> got(400, 200), want = got;
        NonTemporalCopy(got.data() + at, from.data() + from_at, static_cast<int64_t>(bytes));
        FinishNonTemporal();
        for (size_t i = 0; i < bytes; ++i) want[at + i] = from[from_at + i];
        ASSERT_EQ(got, want) << bytes << " bytes from " << from_at << " to " << at;
      }
    }
  }
}

TEST(NonTemporalCopyTest, RowsThatAreAskedForNeedNotBeMemory) {
  PrefetchRows(nullptr, int64_t{1} << 40, 100, 1000);  // does not fault
}

}  // namespace
}  // namespace firn

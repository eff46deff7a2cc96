#include "firn/device/internal/books.h"

#include <gtest/gtest.h>

#include <string>

namespace firn::inner::internal {
namespace {

std::string Refusal(const AllocatorStats& now) {
  return std::string(OutOfMemory(Device::Cpu(), 4096, AllocTag::kWorkspace, now).message());
}

TEST(BooksTest, ARefusalListsWhatIsLiveAndNoPeaks) {
  AllocatorStats now;
  now.limit_bytes = 8192;
  now.peak_by_tag.fill(1024);  // lie behind what is live
  EXPECT_NE(Refusal(now).find("live 0 B (nothing), cached 0 B, limit 8"), std::string::npos)
      << Refusal(now);
  BookBlock(now, AllocTag::kActivation, 2048);
  EXPECT_NE(Refusal(now).find(" (activation 2"), std::string::npos) << Refusal(now);
}

TEST(BooksTest, PeaksStayWhenBlocksAreGivenBack) {
  AllocatorStats books;
  BookBlock(books, AllocTag::kGradient, 300);
  BookBlock(books, AllocTag::kGradient, -300);
  BookBlock(books, AllocTag::kGradient, 200);
  EXPECT_EQ(books.live_bytes, 200);
  EXPECT_EQ(books.peak(AllocTag::kGradient), 300);
  EXPECT_EQ(books.allocations, 2);
}

}  // namespace
}  // namespace firn::inner::internal

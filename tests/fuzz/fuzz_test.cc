// Each reader on its corpus and some thousands of damaged files, the same in every run, in a few
// seconds. mutations.h says how to let it run for longer.
//
// FIRN_FUZZ_SAVE: a folder into which the program writes the corpora; it then does nothing else.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "firn/device/cpu_allocator.h"
#include "gtest/gtest.h"
#include "tests/fuzz/mutations.h"
#include "tests/fuzz/reader.h"
#include "tests/io/test_files.h"

namespace firn::testing {
namespace {

class FuzzTest : public ::testing::TestWithParam<std::string> {
 protected:
  FuzzReader reader_ = FuzzReaders().at(GetParam());
};

TEST_P(FuzzTest, ReadsOrRefuses) {
  ASSERT_NE(reader_.target, nullptr) << "there are files for a reader that there is not";
  const std::vector<std::string> seeds = Seeds(reader_), kept = KeptFiles(GetParam());
  std::vector<std::string> corpus = seeds;
  corpus.insert(corpus.end(), kept.begin(), kept.end());
  if (const char* folder = std::getenv("FIRN_FUZZ_SAVE")) {
    for (size_t i = 0; i < corpus.size(); ++i) {
      io::WriteFile(folder + ("/" + GetParam()) + std::to_string(i), corpus[i]);
    }
    return;
  }
  EXPECT_FALSE(kept.empty()) << "expected files in tests/fuzz/corpus/" << GetParam();
  for (size_t i = 0; i < seeds.size(); ++i) {
    EXPECT_TRUE(reader_.target(seeds[i])) << "seed " << i << " is refused";
  }
  CpuAllocator().ResetPeak();
  const int64_t before = CpuAllocator().stats().live_bytes;
  uint64_t read = 0;
  const FuzzReport report =
      Fuzz(corpus, [&](std::string_view bytes) { read += reader_.target(bytes) ? 1 : 0; });
  // A row for the table of docs/security.md.
  std::cout << "| " << GetParam() << " | " << report.runs << " | " << read << " | "
            << report.seconds << " s |\n";
  EXPECT_GT(read, 0u);
  EXPECT_GT(report.runs, read + 50);
  // No reader takes tensors beyond the targets' limit of 4 MB each, a few at a time.
  EXPECT_LT(CpuAllocator().stats().peak_bytes - before, int64_t{64} << 20);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, reader] : FuzzReaders()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Readers, FuzzTest, ::testing::ValuesIn(Names()),
                         [](const auto& reader) { return reader.param; });

TEST(MutationTest, IsTheSameInEveryRun) {
  const std::vector<std::string> corpus = {"hello, world", "another file"};
  EXPECT_EQ(Mutation(corpus, 1, 7), Mutation(corpus, 1, 7));
  int different = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    different += Mutation(corpus, 1, i) != Mutation(corpus, 2, i) ? 1 : 0;
  }
  EXPECT_GT(different, 90);
}

}  // namespace
}  // namespace firn::testing

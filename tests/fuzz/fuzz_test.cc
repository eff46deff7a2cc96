// Each reader on its corpus and some thousands of damaged files, the same in every run, in a few
// seconds. mutations.h says how to let it run for longer; FIRN_FUZZ_SAVE names a folder into
// which the corpora are written instead.
#include <cstdlib>
#include <iostream>
#include <string>

#include "device/cpu_allocator.h"
#include "gtest/gtest.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutations.h"
#include "tests/fuzz/targets.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

// A corpus that libFuzzer may start from.
void Save(const std::string& reader, const std::string& folder) {
  int number = 0;
  for (const std::string& file : Corpus(reader)) {
    WriteFile(folder + "/" + reader + std::to_string(number++), file);
  }
}

void FuzzReader(const std::string& reader, int (*target)(const uint8_t*, size_t)) {
  if (const char* folder = std::getenv("FIRN_FUZZ_SAVE")) return Save(reader, folder);
  CpuAllocator().ResetPeak();
  const int64_t before = CpuAllocator().stats().live_bytes;
  const testing::FuzzReport report = testing::Fuzz(Corpus(reader), target);
  std::cout << reader << ": " << report.runs << " files in " << report.seconds << " s\n";
  EXPECT_GT(report.runs, 50u);
  // Nothing takes tensors beyond the targets' limit of 4 MB each, a few at a time.
  EXPECT_LT(CpuAllocator().stats().peak_bytes - before, int64_t{64} << 20);
}

TEST(FuzzTest, Image) { FuzzReader("image", FuzzImage); }
TEST(FuzzTest, Npy) { FuzzReader("npy", FuzzNpy); }
TEST(FuzzTest, Npz) { FuzzReader("npz", FuzzNpz); }
TEST(FuzzTest, Wav) { FuzzReader("wav", FuzzWav); }
TEST(FuzzTest, Idx) { FuzzReader("idx", FuzzIdx); }
TEST(FuzzTest, Csv) { FuzzReader("csv", FuzzCsv); }
TEST(FuzzTest, Hdf5) { FuzzReader("hdf5", FuzzHdf5); }
TEST(FuzzTest, Cifar) { FuzzReader("cifar", FuzzCifar); }
TEST(FuzzTest, Graph) { FuzzReader("graph", FuzzGraph); }
TEST(FuzzTest, CsvRows) { FuzzReader("csv_rows", FuzzCsvRows); }
TEST(FuzzTest, NnablaCache) { FuzzReader("nnabla_cache", FuzzNnablaCache); }
TEST(FuzzTest, Checkpoint) { FuzzReader("checkpoint", FuzzCheckpoint); }

TEST(FuzzTest, MutationsAreTheSameInEveryRun) {
  const std::vector<std::string> corpus = {"hello, world", "another file"};
  EXPECT_EQ(testing::Mutation(corpus, 1, 7), testing::Mutation(corpus, 1, 7));
  int different = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    different += testing::Mutation(corpus, 1, i) != testing::Mutation(corpus, 2, i) ? 1 : 0;
  }
  EXPECT_GT(different, 90);
}

}  // namespace
}  // namespace firn::io

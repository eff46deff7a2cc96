// MNIST's four files, small ones made here, and the whole of Fashion-MNIST where it is installed.
#include "firn/io/data/mnist.h"

#include <unistd.h>

#include <numeric>

#include "firn/io/data/mnist_status.h"
#include "firn/tensor/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFashion[] = "/usr/share/datasets/fashion-mnist";

// A folder with three training images of 2x2 pixels and one test image.
std::string SmallMnist() {
  const std::string folder = TempPath("");
  WriteFile(folder + "train-images-idx3-ubyte.gz", Gzip(Idx(8, {3, 2, 2}, "abcdefghijkl")));
  WriteFile(folder + "train-labels-idx1-ubyte", Idx(8, {3}, "\x07\x08\x09"));
  WriteFile(folder + "t10k-images-idx3-ubyte", Idx(8, {1, 2, 2}, "wxyz"));
  WriteFile(folder + "t10k-labels-idx1-ubyte.gz", Gzip(Idx(8, {1}, "\x05")));
  return folder;
}

std::string ErrorFor(const std::string& folder) {
  return testing::ErrorOf([&] { Mnist(folder); });
}

TEST(MnistTest, ReadsTrainingAndTestImages) {
  const std::string folder = SmallMnist();
  const DatasetPtr train = Mnist(folder);
  EXPECT_EQ(train->size(), 3);
  const Sample batch = train->GetBatch({2, 0});
  EXPECT_EQ(batch.input.shape(), (Shape{2, 1, 2, 2}));
  EXPECT_EQ(batch.input.host_view<float>()[0], 'i' / 255.f);
  EXPECT_THAT(batch.target.ToVector<int64_t>(), ElementsAre(9, 7));
  const DatasetPtr test = Mnist(folder, {.train = false, .mean = 0.5, .stddev = 0.5});
  EXPECT_EQ(test->size(), 1);
  EXPECT_EQ(test->Get(0).input.host_view<float>()[3], ('z' / 255.f - 0.5f) / 0.5f);
}

TEST(MnistTest, NamesTheFileThatIsMissing) {
  EXPECT_THAT(ErrorFor("/nowhere"),
              HasSubstr("mnist: cannot open /nowhere/train-images-idx3-ubyte"));
}

TEST(MnistTest, RefusesFilesThatDoNotBelongTogether) {
  const std::string folder = SmallMnist();
  WriteFile(folder + "train-labels-idx1-ubyte", Idx(8, {2}, "\x07\x08"));
  EXPECT_THAT(ErrorFor(folder), HasSubstr("expected 3 labels, as many as images, got 2"));
  WriteFile(folder + "train-labels-idx1-ubyte", Idx(8, {3}, "\x07\x08\x0a"));
  EXPECT_THAT(ErrorFor(folder), HasSubstr("label 10 at index 2 is outside [0, 10)"));
  WriteFile(folder + "train-labels-idx1-ubyte", Idx(8, {3, 1, 1}, "\x07\x08\x09"));
  EXPECT_THAT(ErrorFor(folder), HasSubstr("expected u8 of rank 1, got u8 [3, 1, 1]"));
  EXPECT_EQ(TryMnist(folder, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MnistTest, ReadsFashionMnist) {
  if (access(kFashion, R_OK) != 0) GTEST_SKIP() << kFashion << " is not installed";
  const DatasetPtr test = Mnist(kFashion, {.train = false});
  EXPECT_EQ(test->size(), 10000);
  std::vector<int64_t> all(10000);
  std::iota(all.begin(), all.end(), int64_t{0});
  const Sample batch = test->GetBatch(all);
  EXPECT_EQ(batch.input.shape(), (Shape{10000, 1, 28, 28}));
  std::vector<int64_t> count(10);
  for (const int64_t label : batch.target.host_view<int64_t>()) ++count[static_cast<size_t>(label)];
  EXPECT_THAT(count, ::testing::Each(1000));
}

}  // namespace
}  // namespace firn::io

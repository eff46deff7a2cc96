// Transforms in a loader: the batches do not depend on the number of workers or the place where a
// run was resumed, and errors name the sample.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/data/data_loader.h"
#include "firn/io/data/image_folder.h"
#include "firn/io/data/transforms/blur.h"
#include "firn/io/data/transforms/color.h"
#include "firn/io/data/transforms/crop.h"
#include "firn/io/data/transforms/erase.h"
#include "firn/io/data/transforms/flip.h"
#include "firn/io/data/transforms/mix.h"
#include "firn/io/data/transforms/normalize.h"
#include "firn/io/data/transforms/rand_augment.h"
#include "firn/io/data/transforms/transform.h"
#include "firn/io/image/image.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/data/transforms/pattern.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kImages = 13;

DatasetPtr Images() {
  std::vector<Tensor> images;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < kImages; ++i) {
    images.push_back(Pattern(3, 24, 20, i + 1));
    labels.push_back(i % 3);
  }
  return FromTensors(firn::Stack(images), FromVector(labels));
}

Transform Everything() {
  return Compose({RandAugment(), RandomResizedCrop({.height = 16, .width = 16}),
                  RandomHorizontalFlip(), RandomVerticalFlip(),
                  ColorJitter({.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1}),
                  RandomGrayscale({.p = 0.2}), RandomApply(GaussianBlur({.kernel = 3})),
                  RandomCrop({.height = 16, .width = 16, .padding = 2}),
                  Normalize({.mean = {0.5}, .stddev = {0.25}}), RandomErasing({.noise = true})});
}

DataLoader Loader(int workers, uint64_t seed = 3) {
  return DataLoader(Images(), {.batch = 4,
                               .shuffle = true,
                               .seed = seed,
                               .prefetch = workers,
                               .ahead = 2,
                               .transform = Everything(),
                               .map = MixUp({.classes = 3, .alpha = 0.4})});
}

using Batches = std::vector<std::pair<std::vector<float>, std::vector<float>>>;

Batches Epoch(DataLoader& loader) {
  Batches batches;
  for (auto [images, targets] : loader) {
    batches.emplace_back(images.ToVector<float>(), targets.ToVector<float>());
  }
  return batches;
}

TEST(DataLoaderTransformTest, WorkersDoNotChangeBatches) {
  DataLoader alone = Loader(0);
  const Batches first = Epoch(alone), second = Epoch(alone);
  ASSERT_EQ(first.size(), 4u);
  ASSERT_EQ(first[0].first.size(), 4u * 3 * 16 * 16);
  EXPECT_NE(first, second);
  for (const int workers : {1, 4}) {
    DataLoader loader = Loader(workers);
    EXPECT_EQ(Epoch(loader), first) << workers;
    EXPECT_EQ(Epoch(loader), second) << workers;
  }
  DataLoader other = Loader(0, 4);
  EXPECT_NE(Epoch(other), first);
}

TEST(DataLoaderTransformTest, ARunThatIsResumedInAnEpochGoesOnTheSame) {
  for (const int workers : {0, 1, 4}) {
    DataLoader whole = Loader(workers);
    Epoch(whole);
    const Batches second = Epoch(whole);
    DataLoader left = Loader(workers);
    Epoch(left);
    StateDict state;
    int64_t seen = 0;
    for (const Sample& batch : left) {
      EXPECT_EQ(batch.input.ToVector<float>(), second[static_cast<size_t>(seen)].first);
      if (++seen < 2) continue;
      state = left.state_dict();
      break;
    }
    DataLoader resumed = Loader(4 - workers);
    resumed.LoadStateDict(state);
    EXPECT_EQ(Epoch(resumed), Batches(second.begin() + 2, second.end())) << workers;
  }
}

TEST(DataLoaderTransformTest, WhatASampleDrawsDependsOnItsIndexAndEpochOnly) {
  const auto draw = [](const Sample& sample, RandomGenerator& random) {
    return Sample{Rand({2}, DType::kF32, {.generator = &random}), sample.target};
  };
  std::vector<int64_t> numbers(40);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  const DatasetPtr data = FromTensors(FromVector(numbers), FromVector(numbers));
  const auto drawn = [&](DataLoader& loader) {
    std::vector<std::vector<float>> by_sample(40);
    for (auto [values, index] : loader) {
      for (int64_t k = 0; k < index.size(0); ++k) {
        const std::vector<float> all = values.ToVector<float>();
        const auto at = static_cast<size_t>(index.ToVector<int64_t>()[static_cast<size_t>(k)]);
        by_sample[at] = {all.begin() + 2 * k, all.begin() + 2 * (k + 1)};
      }
    }
    return by_sample;
  };
  DataLoader ordered(data, {.batch = 7, .seed = 1, .transform = draw});
  DataLoader shuffled(data, {.batch = 3, .shuffle = true, .seed = 1, .transform = draw});
  const auto first = drawn(ordered);
  EXPECT_EQ(drawn(shuffled), first);
  EXPECT_NE(drawn(ordered), first);
  EXPECT_EQ(drawn(ordered).size(), first.size());
  for (size_t i = 1; i < first.size(); ++i) EXPECT_NE(first[i], first[0]);
}

// Three images, the last one too small to be cropped, and a file that is no image.
std::string Folder() {
  const std::string folder = TempPath("transformed");
  fs::remove_all(folder);
  fs::create_directories(folder + "/a");
  WriteImage(folder + "/a/1.png", Pattern(3, 9, 9));
  WriteImage(folder + "/a/2.png", Pattern(3, 9, 12));
  WriteImage(folder + "/a/3.png", Pattern(3, 4, 9));
  WriteFile(folder + "/a/4.png", "no image");
  return folder;
}

// The error of a loop over the loader, and the number of batches before it.
std::pair<int, std::string> Failure(DataLoader loader) {
  int batches = 0;
  const std::string error = firn::testing::ErrorOf([&] {
    for (const Sample& batch : loader) {
      batches += batch.input.defined() ? 1 : 0;
    }
  });
  return {batches, error};
}

TEST(DataLoaderTransformTest, ErrorsNameTheFileWhateverTheWorkers) {
  const DatasetPtr images = ImageFolder(Folder());
  for (const int workers : {0, 1, 4}) {
    const auto [batches, error] = Failure(DataLoader(
        images, {.prefetch = workers, .transform = RandomCrop({.height = 8, .width = 8})}));
    EXPECT_EQ(batches, 2) << workers;
    EXPECT_THAT(error, AllOf(HasSubstr("transform: "), HasSubstr("/a/3.png: random_crop: expected "
                                                                 "an image of at least 8 x 8 "
                                                                 "pixels")));
    const auto [whole, unread] = Failure(
        DataLoader(Subset(images, {0, 3, 2}), {.prefetch = workers, .transform = Compose({})}));
    EXPECT_EQ(whole, 1);
    EXPECT_THAT(unread, HasSubstr("/a/4.png: offset 0, signature"));
    // Images of different sizes.
    const auto [none, differ] =
        Failure(DataLoader(images, {.batch = 2, .prefetch = workers, .transform = Compose({})}));
    EXPECT_EQ(none, 0);
    EXPECT_THAT(differ, AllOf(HasSubstr("/a/2.png is u8 [3, 9, 12]"),
                              HasSubstr("/a/1.png is u8 [3, 9, 9]")));
    EXPECT_THAT(Failure(DataLoader(images, {.batch = 2, .prefetch = workers})).second,
                HasSubstr("/a/2.png is u8 [3, 9, 12]"));
  }
}

TEST(DataLoaderTransformTest, AFoldersOwnTransformNamesTheFileToo) {
  const auto images = ImageFolder(Folder(), {.transform = CenterCrop({.height = 8, .width = 8})});
  EXPECT_EQ(images->Get(1).input.shape(), (Shape{3, 8, 8}));
  EXPECT_THAT(firn::testing::ErrorOf([&] { images->Get(2); }),
              HasSubstr("/a/3.png: center_crop: expected an image of at least 8 x 8"));
}

}  // namespace
}  // namespace firn::io

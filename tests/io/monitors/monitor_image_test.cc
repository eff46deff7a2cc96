#include "firn/io/monitors/monitor_image.h"

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "firn/io/image/image.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Row by row, the channels of a pixel together.
std::vector<int> PixelsOf(const std::string& path) {
  return Permute(ReadImage(path), {1, 2, 0}).ToVector<int>();
}

TEST(MonitorImageTest, WritesEachImageNormalised) {
  std::ostringstream said;
  MonitorImage images("some images", Monitor(TempPath("images")),
                      {.interval = 3, .num_images = 2, .verbose = &said});
  const Tensor x = FromVector<float>({-1, 0, 1, 0, 0, 0, 5, 5}, {4, 1, 1, 2});
  for (int64_t i = 0; i < 4; ++i) images.Add(i, x);
  const std::string folder = TempPath("images") + "/some-images";
  EXPECT_THAT(List(folder),
              ElementsAre("000000-000.png", "000000-001.png", "000002-000.png", "000002-001.png"));
  EXPECT_THAT(PixelsOf(folder + "/000000-000.png"), ElementsAre(0, 128));
  EXPECT_THAT(PixelsOf(folder + "/000000-001.png"), ElementsAre(255, 128));
  EXPECT_THAT(said.str(), HasSubstr("iter=2 {some images} are written to " + folder));
}

TEST(MonitorImageTest, MakesThreeChannels) {
  MonitorImage images("channels", Monitor(TempPath("images")),
                      {.num_images = 1, .normalize = [](const Tensor& x) { return x; }});
  const std::string path = TempPath("images") + "/channels/000000-000.png";
  images.Add(0, FromVector<double>({0, 0.5, 2, -1}, {2, 1, 2}));
  EXPECT_THAT(PixelsOf(path), ElementsAre(0, 255, 255, 128, 0, 255));
  images.Add(0, FromVector<float>({0, 1, 0, 1}, {1, 4, 1, 1}));
  EXPECT_THAT(PixelsOf(path), ElementsAre(0, 255, 0));
}

TEST(MonitorImageTest, CopesWithNumbersThatAreNone) {
  MonitorImage images("strange", Monitor(TempPath("images")));
  const float infinity = std::numeric_limits<float>::infinity();
  images.Add(0, FromVector<float>({std::nanf(""), infinity, -infinity, 1, 3}, {1, 1, 5}));
  const std::string path = TempPath("images") + "/strange/000000-000.png";
  EXPECT_THAT(PixelsOf(path), ElementsAre(0, 255, 0, 0, 255));
  images.Add(0, Full({1, 1, 2}, 7));
  EXPECT_THAT(PixelsOf(path), ElementsAre(0, 0));
}

// nnabla.monitor.tile_images: ceil(sqrt(n)) tiles each way, a pad of one.
TEST(MonitorImageTileTest, PutsImagesIntoASquare) {
  MonitorImageTile tile("tile", Monitor(TempPath("images")),
                        {.normalize = [](const Tensor& x) { return x / 255; }});
  tile.Add(0, FromVector<float>({10, 20, 30, 40, 50, 60}, {3, 1, 1, 2}));
  const std::string path = TempPath("images") + "/tile/000000.png";
  EXPECT_EQ(ReadImage(path).shape(), Shape({1, 4, 6}));
  EXPECT_THAT(PixelsOf(path), ElementsAre(10, 20, 0, 30, 40, 0, 0, 0, 0, 0, 0, 0,  //
                                          50, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(MonitorImageTest, RefusesWhatItCannotWrite) {
  const Monitor monitor(TempPath("images"));
  EXPECT_THAT(ErrorOf([&] { MonitorImage("a", monitor, {.interval = 0}); }), HasSubstr("interval"));
  EXPECT_THAT(ErrorOf([&] { MonitorImageTile("a", monitor, {.num_images = 0}); }),
              HasSubstr("num_images"));
  MonitorImage images("bad", monitor);
  EXPECT_THAT(ErrorOf([&] { images.Add(0, Zeros({4, 4})); }), HasSubstr("images are [4, 4]"));
  EXPECT_THAT(ErrorOf([&] { images.Add(0, Zeros({0, 3, 4, 4})); }), HasSubstr("[0, 3, 4, 4]"));
  MonitorImage wrong("bad", monitor, {.normalize = [](const Tensor& x) { return Sum(x); }});
  EXPECT_THAT(ErrorOf([&] { wrong.Add(0, Zeros({1, 4, 4})); }), HasSubstr("normalised images"));
  std::filesystem::remove_all(TempPath("images") + "/bad");
  EXPECT_THAT(ErrorOf([&] { images.Add(0, Zeros({1, 4, 4})); }), HasSubstr("000000-000.png"));
}

}  // namespace
}  // namespace firn::io

// Compares the input that a zoo network gets for a picture file with torchvision's preset
// (make_zoo_image.py).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/firn.h"
#include "firn/io/npy/npy.h"
#include "firn/nn/zoo/zoo.h"
#include "tests/examples/zoo_input.h"

namespace firn::testing {
namespace {

const std::string kData = "tests/examples/data/";

zoo::Network SmallNetwork() {
  return {.inputs = {zoo::Image(24)}, .resize = 29, .colours = zoo::ImagenetColours()};
}

// A PNG is decoded without loss, Resize makes Pillow's bytes, and the division and the
// normalisation are those of torchvision, operation by operation: the same bits.
TEST(ZooImageTest, APngIsSeenAsTorchvisionDoes) {
  const Tensor want = io::ReadNpy(kData + "photo.png.npy").Unsqueeze(0);
  const Tensor got = ZooInput(SmallNetwork(), kData + "photo.png");
  ASSERT_EQ(got.shape(), Shape({1, 3, 24, 24}));
  EXPECT_EQ(got.ToVector<float>(), want.ToVector<float>());
}

TEST(ZooImageTest, ANetworkOfBicubicImagesSeesThem) {
  zoo::Network network = SmallNetwork();
  network.bicubic = true;
  const Tensor want = io::ReadNpy(kData + "photo.bicubic.npy").Unsqueeze(0);
  EXPECT_EQ(ZooInput(network, kData + "photo.png").ToVector<float>(), want.ToVector<float>());
}

// Decoders of JPEGs may round luma and both chromas by one each, and colours again by a half, which
// moves a byte by up to 1 + 1.772 + 0.5. Resize takes means of bytes and rounds them twice.
TEST(ZooImageTest, AJpegIsSeenAsTorchvisionDoes) {
  const std::vector<float> want = io::ReadNpy(kData + "photo.jpg.npy").ToVector<float>();
  const std::vector<float> got = ZooInput(SmallNetwork(), kData + "photo.jpg").ToVector<float>();
  ASSERT_EQ(got.size(), want.size());
  const double bytes = 1 + 1.772 + 0.5 + 2 * 0.5, smallest_deviation = 0.224;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], bytes / 255 / smallest_deviation) << i;
  }
}

}  // namespace
}  // namespace firn::testing

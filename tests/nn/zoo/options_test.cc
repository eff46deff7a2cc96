// Options and inputs that families refuse, and variants that no published network has.
#include <gtest/gtest.h>

#include <string>

#include "firn/nn/zoo/deeplab.h"
#include "firn/nn/zoo/mobilenet_v1.h"
#include "firn/nn/zoo/preact_resnet.h"
#include "firn/nn/zoo/senet.h"
#include "firn/nn/zoo/shufflenet.h"
#include "firn/nn/zoo/swin.h"
#include "firn/nn/zoo/unet.h"
#include "firn/nn/zoo/vit.h"
#include "firn/nn/zoo/xception.h"
#include "firn/nn/zoo/yolo_v2.h"
#include "firn/nn/zoo/yolo_v3.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"

namespace firn::zoo {
namespace {

template <class M>
std::string ErrorOf(const typename M::Options& options) {
  try {
    M net(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void ExpectHas(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(ZooOptions, WrongOnesAreRefused) {
  ExpectHas(ErrorOf<Vit>({.image = 225}), "an image that patches fill, got an image of 225");
  ExpectHas(ErrorOf<Vit>({.layers = 0}), "at least one layer, got 0");
  ExpectHas(ErrorOf<Swin>({.units = {2, 2}, .heads = {3}}), "of 2 stages");
  ExpectHas(ErrorOf<Swin>({.channels = 97}), "heads that divide its channels; channels are 97");
  ExpectHas(ErrorOf<Swin>({.window = 0}), "at least one token, got 0");
  ExpectHas(ErrorOf<MobilenetV1>({.width = -1}), "got -1");
  ExpectHas(ErrorOf<PreactResnet>({.units = {1, 2}}), "four positive numbers of units");
  ExpectHas(ErrorOf<Senet>({.units = {1, 2, 3, 0}}), "four positive numbers of units");
  ExpectHas(ErrorOf<Senet>({.groups = 3}), "that divides 128, got 3");
  ExpectHas(ErrorOf<Shufflenet>({.channels = {24, 244, 480, 960}}), "[24, 244, 480, 960] and 3");
  ExpectHas(ErrorOf<Shufflenet>({.channels = {25, 240, 480, 960}}), "[25, 240, 480, 960] and 3");
  ExpectHas(ErrorOf<Shufflenet>({.groups = 0}), "and 0 groups");
  ExpectHas(ErrorOf<Xception>({.middle = -1}), "got -1");
  ExpectHas(ErrorOf<Unet>({.levels = 1}), "2 to 16 levels, got 1");
  ExpectHas(ErrorOf<Deeplab>({.output_stride = 4}), "8, 16 or 32, got 4");
  ExpectHas(ErrorOf<YoloV2>({.anchors = {}}), "expected anchors");
  ExpectHas(ErrorOf<YoloV3>({.grids = {}}), "three grids");
}

TEST(ZooOptions, ImagesThatDoNotFitAreRefused) {
  const NoGradScope no_grad;
  Unet unet({.channels = 2, .levels = 3});
  EXPECT_EQ(unet(Zeros({1, 1, 12, 8})).shape(), Shape({1, 2, 12, 8}));
  EXPECT_THROW(unet(Zeros({1, 1, 12, 10})), Error);
  Vit vit({.image = 32, .layers = 1, .heads = 1, .hidden = 8, .mlp = 8, .classes = 2});
  EXPECT_EQ(vit(Zeros({1, 3, 32, 32})).shape(), Shape({1, 2}));
  EXPECT_THROW(vit(Zeros({1, 3, 32, 48})), Error);
  YoloV2 yolo({.classes = 1});
  EXPECT_THROW(yolo(Zeros({1, 3, 64, 65})), Error);
}

// Half the output stride is four times as many places for the pyramid, with the same parameters.
TEST(ZooOptions, DeeplabKeepsItsParametersAtEveryOutputStride) {
  const NoGradScope no_grad;
  Deeplab coarse({.units = {1, 1, 1, 1}, .classes = 3});
  Deeplab fine({.units = {1, 1, 1, 1}, .output_stride = 8, .classes = 3});
  static_cast<void>(fine.LoadStateDict(coarse.state_dict()));
  coarse.Eval();
  fine.Eval();
  const Tensor image = Randn({1, 3, 32, 48});
  const Tensor a = coarse(image), b = fine(image);
  EXPECT_EQ(a.shape(), Shape({1, 3, 32, 48}));
  EXPECT_EQ(b.shape(), Shape({1, 3, 32, 48}));
  EXPECT_FALSE(a.Equals(b));
}

// Odd sides get a row and a column of zeros before they are halved.
TEST(ZooOptions, SwinTakesImagesOfOddNumbersOfPatches) {
  const NoGradScope no_grad;
  Swin net({.channels = 6, .units = {1, 2}, .heads = {1, 2}, .window = 3, .classes = 4});
  EXPECT_EQ(net(Randn({2, 3, 20, 28})).shape(), Shape({2, 4}));
}

}  // namespace
}  // namespace firn::zoo

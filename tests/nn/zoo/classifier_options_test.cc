// Options of families: refused values, and how options of the whole zoo reach the families.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "firn/nn/zoo/convnext.h"
#include "firn/nn/zoo/densenet.h"
#include "firn/nn/zoo/efficientnet.h"
#include "firn/nn/zoo/googlenet.h"
#include "firn/nn/zoo/mnasnet.h"
#include "firn/nn/zoo/mobilenet_v2.h"
#include "firn/nn/zoo/mobilenet_v3.h"
#include "firn/nn/zoo/regnet.h"
#include "firn/nn/zoo/shufflenet_v2.h"
#include "firn/tensor/error.h"

namespace firn::zoo {
namespace {

// The error of making a network.
template <class M>
std::string ErrorOf(const typename M::Options& options) {
  try {
    M net(options);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

void ExpectSays(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

TEST(ZooOptions, WrongOnesAreNamed) {
  ExpectSays(ErrorOf<MobilenetV2>({.width = 0}), "expected a positive width, got 0");
  ExpectSays(ErrorOf<MobilenetV3>({.width = -1}), "expected a positive width, got -1");
  ExpectSays(ErrorOf<Mnasnet>({.width = std::numeric_limits<double>::quiet_NaN()}), "width");
  ExpectSays(ErrorOf<Efficientnet>({.depth = -0.5}), "expected a positive depth, got -0.5");
  ExpectSays(ErrorOf<Efficientnet>({.stages = {}}), "got 0 stages");
  ExpectSays(ErrorOf<ShufflenetV2>({.channels = {24, 116, 231, 464, 1024}}), "231");
  ExpectSays(ErrorOf<Densenet>({.units = {6, 0}}), "got [6, 0]");
  ExpectSays(ErrorOf<Regnet>({.units = {1}, .widths = {24}}), "group_width 16");
  ExpectSays(ErrorOf<Convnext>({.units = {3, 3}}), "got units [3, 3], widths [96, 192, 384, 768]");
}

TEST(ZooOptions, NamesOfAFamilyAreItsOwn) {
  EXPECT_THROW(DensenetOf("densenet122"), Error);
  EXPECT_THROW(RegnetOf("densenet121"), Error);
}

TEST(ZooOptions, OneDropoutIsThatOfEveryPart) {
  const EfficientnetOptions efficientnet = EfficientnetOf("efficientnet_b3");
  EXPECT_EQ(efficientnet.dropout, 0.3);
  EXPECT_EQ(efficientnet.stochastic_depth, 0.2);
  EXPECT_EQ(EfficientnetOf("efficientnet_b3", {.dropout = 0}).stochastic_depth, 0);
  EXPECT_EQ(ConvnextOf("convnext_base").stochastic_depth, 0.5);
  EXPECT_EQ(ConvnextOf("convnext_base", {.dropout = 0.1}).stochastic_depth, 0.1);
  EXPECT_EQ(GooglenetOf("googlenet", {.dropout = 0.1}).auxiliary_dropout, 0.1);
}

TEST(ZooOptions, ClassesAreThoseOfTheLastLayer) {
  MobilenetV3 net(MobilenetV3Of("mobilenet_v3_small", {.classes = 7}));
  EXPECT_EQ(net.state_dict()["classifier.3.weight"].shape(), Shape({7, 1024}));
  EXPECT_THROW(MobilenetV3Of("mobilenet_v3_small", {.classes = -7}), Error);
}

}  // namespace
}  // namespace firn::zoo

// Options of losses that would be wrong for every input are refused when the layer is made.

#include "firn/nn/loss.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "firn/nn/distance.h"
#include "firn/nn/make_layer.h"
#include "firn/nn/norm.h"
#include "firn/nn/shape_layers.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

std::string ErrorOfMaking(const std::string& layer, const OptionValues& options) {
  return ErrorOf([&] { MakeLayer(layer, options); });
}

TEST(LossTest, OfNoLossButKlDivTheMeanIsThatOfABatch) {
  int losses = 0;
  for (const std::string& name : LayerNames()) {
    bool reduces = false;
    for (const OptionText& o : LayerOptions(name)) reduces |= o.name == "reduction";
    if (!reduces) continue;
    ++losses;
    EXPECT_EQ(
        ErrorOfMaking(name, {{"reduction", "batchmean"}}),
        name == "KlDivLoss" ? "" : "nn::" + name + ": reduction must be none, mean or sum, got 3");
    EXPECT_EQ(ErrorOfMaking(name, {{"reduction", "sum"}}), "");
  }
  EXPECT_EQ(losses, 22);
}

TEST(LossTest, NumbersOutsideTheirRangeAreRefusedWhenItIsMade) {
  EXPECT_EQ(ErrorOfMaking("CrossEntropyLoss", {{"label_smoothing", "1.5"}}),
            "nn::CrossEntropyLoss: label_smoothing must be in [0, 1], got 1.5");
  EXPECT_EQ(ErrorOfMaking("CtcLoss", {{"blank", "-1"}}),
            "nn::CtcLoss: blank is -1, which is no class");
  EXPECT_EQ(ErrorOfMaking("EpsilonInsensitiveLoss", {{"epsilon", "-1"}}),
            "nn::EpsilonInsensitiveLoss: epsilon must be at least 0, got -1");
  EXPECT_EQ(ErrorOfMaking("GaussianNllLoss", {{"eps", "0"}}),
            "nn::GaussianNllLoss: eps must be above 0, got 0");
  EXPECT_EQ(ErrorOfMaking("HuberLoss", {{"delta", "0"}}),
            "nn::HuberLoss: delta must be above 0 and finite, got 0");
  EXPECT_EQ(ErrorOfMaking("MultiMarginLoss", {{"p", "3"}}),
            "nn::MultiMarginLoss: p must be 1 or 2, got 3");
  EXPECT_EQ(ErrorOfMaking("SmoothL1Loss", {{"beta", "-1"}}),
            "nn::SmoothL1Loss: beta must be at least 0 and finite, got -1");
  EXPECT_EQ(ErrorOfMaking("TripletMarginLoss", {{"margin", "0"}}),
            "nn::TripletMarginLoss: margin must be above 0, got 0");
  EXPECT_EQ(ErrorOfMaking("TripletMarginLoss", {{"p", "nan"}}),
            "nn::TripletMarginLoss: p must be at least 0, or infinite; got nan");
}

TEST(LossTest, SoAreThoseOfOtherLayersOfFunctions) {
  EXPECT_EQ(ErrorOfMaking("PairwiseDistance", {{"p", "-1"}}),
            "nn::PairwiseDistance: p must be at least 0, or infinite; got -1");
  EXPECT_EQ(ErrorOfMaking("LocalResponseNorm", {{"size", "0"}}),
            "nn::LocalResponseNorm: size is 0 (want a positive number)");
  for (const std::string sizes : {"", "-2", "-1, 3, -1"}) {
    EXPECT_EQ(ErrorOfMaking("Unflatten", {{"sizes", sizes}}),
              "nn::Unflatten: sizes is [" + sizes +
                  "] (want numbers of elements, one of which may be -1)");
  }
  EXPECT_EQ(ErrorOfMaking("Unflatten", {{"sizes", "2, -1, 0"}}), "");
}

}  // namespace
}  // namespace firn::nn

// Layers print their enums as the words that PyTorch has.
#include <gtest/gtest.h>

#include "firn/nn/activation.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/loss.h"

namespace firn::nn {
namespace {

TEST(WordsTest, OptionsThatAreEnumsAreWords) {
  const Conv2d conv({.in = 1, .out = 2, .kernel = 3, .padding_mode = PadMode::kReflect});
  EXPECT_EQ(conv.ToString(), "Conv2d(1 -> 2, kernel=3, padding_mode=reflect)");
  const KlDivLoss kl_div({.reduction = Reduction::kBatchMean});
  EXPECT_EQ(kl_div.ToString(), "KlDivLoss(reduction=batchmean)");
  const MseLoss mse({.reduction = Reduction::kSum});
  EXPECT_EQ(mse.ToString(), "MseLoss(reduction=sum)");
  const Gelu gelu({.approximate = GeluApproximate::kTanh});
  EXPECT_EQ(gelu.ToString(), "Gelu(approximate=tanh)");
  const BatchNorm2d norm({.channels = 3, .activation = FusedActivation::kTanh});
  EXPECT_EQ(norm.ToString(), "BatchNorm2d(3, activation=tanh)");
}

TEST(WordsTest, DefaultsAreLeftOut) {
  EXPECT_EQ(Conv2d({.in = 1, .out = 2, .kernel = 3}).ToString(), "Conv2d(1 -> 2, kernel=3)");
  EXPECT_EQ(KlDivLoss().ToString(), "KlDivLoss()");
  EXPECT_EQ(Gelu().ToString(), "Gelu()");
  EXPECT_EQ(BatchNorm2d({.channels = 3}).ToString(), "BatchNorm2d(3)");
}

}  // namespace
}  // namespace firn::nn

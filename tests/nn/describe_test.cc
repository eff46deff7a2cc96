// What layers print of themselves follows from their options.

#include "firn/nn/describe.h"

#include <gtest/gtest.h>

#include <string>

#include "firn/nn/layers.h"
#include "firn/tensor/ops/create/constant.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

TEST(DescribeTest, TellsWhatDiffersFromTheDefaults) {
  EXPECT_EQ(Conv2d({.in = 1, .out = 2, .kernel = 3}).Describe(), "1 -> 2, kernel=3");
  EXPECT_EQ(Conv2d({.in = 2,
                    .out = 4,
                    .kernel = {3, 5},
                    .stride = 2,
                    .padding = {1, 2},
                    .dilation = 2,
                    .groups = 2,
                    .bias = false,
                    .padding_mode = PadMode::kCircular})
                .Describe(),
            "2 -> 4, kernel=[3, 5], stride=2, padding=[1, 2], dilation=2, groups=2, bias=false, "
            "padding_mode=circular");
  EXPECT_EQ(Conv2d({.out = 2, .kernel = {3, 3}, .padding = kSame}).Describe(),
            "? -> 2, kernel=3, padding=same");
  EXPECT_EQ(ConvTranspose1d({.in = 2, .out = 2, .stride = 2, .output_padding = 1}).Describe(),
            "2 -> 2, kernel=1, stride=2, output_padding=1");
  EXPECT_EQ(BatchNorm2d({.channels = 3, .activation = FusedActivation::kRelu}).Describe(),
            "3, activation=relu");
  EXPECT_EQ(GroupNorm({.groups = 2, .channels = 4, .affine = false}).Describe(),
            "groups=2, 4, affine=false");
  EXPECT_EQ(LayerNorm({.shape = {2, 3}, .eps = 0.5, .bias = false}).Describe(),
            "[2, 3], eps=0.5, bias=false");
  EXPECT_EQ(Dropout().Describe(), "p=0.5");
  EXPECT_EQ(Flatten({.start_dim = 0}).Describe(), "start_dim=0");
  EXPECT_EQ(KlDivLoss({.reduction = Reduction::kBatchMean, .log_target = true}).Describe(),
            "reduction=batchmean, log_target=true");
  EXPECT_EQ(HuberLoss({.delta = 2}).Describe(), "delta=2");
  EXPECT_EQ(Standardize({.fill_missing = true}).Describe(), "?, fill_missing=true");
  EXPECT_EQ(ResUnit({.in = 4, .out = 8, .stride = 2}).Describe(), "4 -> 8, stride=2");
  EXPECT_EQ(Upsample({.scale_factor = {1.5, 2}, .mode = InterpolateMode::kCubic}).Describe(),
            "scale_factor=[1.5, 2], mode=cubic");
}

TEST(DescribeTest, TellsSizesOnceTheyAreKnown) {
  Linear linear({.out = 3});
  ConvTranspose2d transposed({.out = 4, .groups = 2});
  BatchNorm1d plain({.affine = false}), batch;
  LayerNorm layer;
  GroupNorm group({.groups = 2});
  ResUnit unit({.out = 2, .stride = 2});
  EXPECT_EQ(linear.Describe(), "? -> 3");
  EXPECT_EQ(batch.Describe(), "?");
  EXPECT_EQ(layer.Describe(), "[?]");
  EXPECT_EQ(group.Describe(), "groups=2, ?");
  linear(Ones({1, 2}));
  transposed(Ones({1, 6, 2, 2}));
  plain(Ones({2, 5}));
  layer(Ones({2, 3}));
  group(Ones({1, 4, 2}));
  unit(Ones({1, 3, 4, 4}));
  EXPECT_EQ(linear.Describe(), "2 -> 3");
  EXPECT_EQ(transposed.Describe(), "6 -> 4, kernel=1, groups=2");
  EXPECT_EQ(plain.Describe(), "5, affine=false");
  EXPECT_EQ(layer.Describe(), "[3]");
  EXPECT_EQ(group.Describe(), "groups=2, 4");
  EXPECT_EQ(unit.Describe(), "3 -> 2, stride=2");
  // A state dict tells them, too.
  BatchNorm1d loaded;
  loaded.LoadStateDict(BatchNorm1d({.channels = 7}).state_dict());
  EXPECT_EQ(loaded.Describe(), "7");
}

struct Mixed {
  int64_t number = 1;
  std::string text = "a";
  template <class V>
  void Visit(V& v) {
    v.Field("number", number);
    v.Always("text", text);
  }
};
struct Silent {
  int64_t number = 1;
};

TEST(DescribeTest, DescribesAnyStructOfOptions) {
  EXPECT_EQ(DescribeOptions(Mixed()), "text=a");
  EXPECT_EQ(DescribeOptions(Mixed{2, "b"}), "number=2, text=b");
  EXPECT_EQ(DescribeOptions(Silent{2}), "");  // has no Visit
}

TEST(ResUnitTest, AsksForChannelsThatDecideOnTheShortcut) {
  EXPECT_EQ(testing::ErrorOf([] { ResUnit({.out = 4}); }),
            "nn::ResUnit: in is 0 (want the number of input channels where the stride is 1, for it "
            "tells whether the shortcut has a convolution)");
  EXPECT_EQ(ResUnit({.in = 4, .out = 4}).num_children(), 4u);
  EXPECT_EQ(ResUnit({.in = 3, .out = 4}).num_children(), 6u);
  EXPECT_EQ(ResUnit({.out = 4, .stride = 2}).num_children(), 6u);
}

}  // namespace
}  // namespace firn::nn

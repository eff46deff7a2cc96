#include "firn/io/monitors/series_names.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

TEST(PartsOfTest, FindsThePartWhereverWritersPutIt) {
  const auto expect = [](DataPart part, const std::vector<std::string>& names,
                         const std::string& base) {
    for (const std::string& name : names) {
      const NameParts parts = PartsOf(name);
      EXPECT_EQ(parts.base, base) << name;
      EXPECT_EQ(parts.part, part) << name;
    }
  };
  expect(DataPart::kTraining,
         {"training loss", "training-loss", "train_loss", "trainLoss", "loss/train", "Loss/Train",
          "loss (training)", "TRAIN LOSS"},
         "loss");
  expect(DataPart::kValidation,
         {"validation loss", "validation_loss", "val_loss", "valLoss", "valid loss", "eval/loss",
          "loss_val", "evaluation loss"},
         "loss");
  expect(DataPart::kTest, {"test loss", "loss/test", "testing_loss"}, "loss");
  expect(DataPart::kValidation, {"validation top 5 accuracy", "val-top-5-accuracy"},
         "top 5 accuracy");
  expect(DataPart::kTraining, {"run/train/loss", "run/train_loss", "run/loss_train"}, "run loss");
  expect(DataPart::kNone, {"loss", "Loss"}, "loss");
}

TEST(PartsOfTest, LeavesOtherWordsAlone) {
  for (const char* name : {"trainable share", "interval", "values", "retrain", "mean train speed",
                           "latest loss", "evaluations", "train", "Validation", ""}) {
    EXPECT_EQ(PartsOf(name).part, DataPart::kNone) << name;
  }
  EXPECT_EQ(PartsOf("train").base, "train");
  EXPECT_EQ(PartsOf("train/validation loss").base, "validation loss");  // one word at most
  // Bytes that are no text stay unchanged.
  EXPECT_EQ(PartsOf("train \xff\xc3\xa4<b>").base, "\xff\xc3\xa4 b");
  EXPECT_EQ(PartsOf(std::string("a\0train", 7)).base, "a");
}

using Style = std::pair<size_t, size_t>;

std::vector<Style> Styles(const std::vector<std::string>& names) {
  std::vector<Style> styles;
  for (const LineStyle& s : StylesOf(names, 6)) styles.push_back({s.color, s.dashes});
  return styles;
}

TEST(StylesOfTest, PartsOfOneThingHaveOneColour) {
  EXPECT_EQ(Styles({"loss", "validation loss"}), (std::vector<Style>{{0, 0}, {0, 1}}));
  EXPECT_EQ(Styles({"a/train loss", "a/val loss", "a/test loss", "b/train loss", "b/val loss"}),
            (std::vector<Style>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}}));
  // Colours tell two series of one part apart.
  EXPECT_EQ(Styles({"loss", "training-loss", "validation loss", "lr"}),
            (std::vector<Style>{{0, 0}, {1, 0}, {0, 1}, {2, 0}}));
  EXPECT_EQ(Styles({"a", "b", "a", ""}), (std::vector<Style>{{0, 0}, {1, 0}, {2, 0}, {3, 0}}));
}

TEST(StylesOfTest, APaletteThatBeginsAgainHasOtherDashes) {
  std::vector<std::string> names;
  for (int run = 0; run < 12; ++run) {
    for (const char* part : {"train", "val", "test"}) {
      names.push_back(std::to_string(run) + "/" + part + "_loss");
    }
  }
  std::set<Style> different;
  for (const auto& [color, dashes] : Styles(names)) different.insert({color % 6, dashes});
  EXPECT_EQ(different.size(), names.size());
}

TEST(XColumnTest, PrefersStepsToEpochs) {
  EXPECT_EQ(XColumnOf({"epoch", "step", "loss"}), 1u);
  EXPECT_EQ(XColumnOf({"Epoch", "loss", "Step"}), 2u);
  EXPECT_EQ(XColumnOf({"\xEF\xBB\xBF"
                       "epoch",
                       "step"}),
            1u);
  EXPECT_EQ(XColumnOf({"epoch", "loss"}), 0u);
  EXPECT_EQ(XColumnOf({"step", "epoch", "loss"}), 0u);
  EXPECT_EQ(XColumnOf({"time", "step"}), 0u);
  EXPECT_EQ(XColumnOf({}), 0u);
  EXPECT_TRUE(CountsEpochs("epoch"));
  EXPECT_TRUE(CountsEpochs("Epochs done"));
  EXPECT_FALSE(CountsEpochs("step"));
  EXPECT_FALSE(CountsEpochs("epochal"));
}

}  // namespace
}  // namespace firn::io::internal

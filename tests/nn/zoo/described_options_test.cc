// Options that are rows of numbers: a description prints them, and a reader sets them.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "firn/nn/describe.h"
#include "firn/nn/zoo/efficientnet.h"
#include "firn/nn/zoo/resnet.h"
#include "firn/nn/zoo/yolo_v2.h"
#include "firn/nn/zoo/yolo_v3.h"
#include "firn/tensor/error.h"

namespace firn::zoo {
namespace {

// Sets the options of one name.
template <class T>
struct Reader {
  std::string name;
  std::vector<T> numbers;

  template <class U>
  void Field(const char*, U&) {}
  void Field(const char* field, std::vector<T>& value) {
    if (field == name) value = numbers;
  }
  template <class U>
  void Always(const char* field, U& value) {
    Field(field, value);
  }
};

template <class T, class O>
std::string ErrorOf(O options, const std::string& name, const std::vector<T>& numbers) {
  Reader<T> reader = {name, numbers};
  try {
    options.Visit(reader);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

void ExpectHas(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(DescribedOptions, EfficientnetTellsItsStages) {
  EXPECT_EQ(nn::DescribeOptions(EfficientnetOf("efficientnet_b0")), "");
  EfficientnetOptions options = {.stages = {{1, 3, 1, 24, 2, true}, {4, 5, 2, 48, 3}}};
  EXPECT_EQ(nn::DescribeOptions(options), "stages=[1, 3, 1, 24, 2, 1, 4, 5, 2, 48, 3, 0]");
  Reader<int64_t> reader = {"stages", {6, 5, 2, 40, 7, 1}};
  options.Visit(reader);
  ASSERT_EQ(options.stages.size(), 1u);
  EXPECT_EQ(options.stages[0].channels, 40);
  EXPECT_EQ(options.stages[0].units, 7);
  EXPECT_TRUE(options.stages[0].fused);
  ExpectHas(ErrorOf<int64_t>(options, "stages", {6, 5}), "rows of 6 numbers, got 2");
}

TEST(DescribedOptions, YoloV2TellsItsAnchors) {
  EXPECT_EQ(nn::DescribeOptions(YoloV2Options()), "");
  YoloV2Options options = {.anchors = {{1.5, 2}, {0.25, 4}}};
  EXPECT_EQ(nn::DescribeOptions(options), "anchors=[1.5, 2, 0.25, 4]");
  Reader<double> reader = {"anchors", {3, 0.5}};
  options.Visit(reader);
  const std::vector<std::array<double, 2>> read = {{3, 0.5}};
  EXPECT_EQ(options.anchors, read);
  ExpectHas(ErrorOf<double>(options, "anchors", {1, 2, 3}), "rows of 2 numbers, got 3");
}

TEST(DescribedOptions, YoloV3TellsItsGrids) {
  EXPECT_EQ(nn::DescribeOptions(YoloV3Options()), "");
  YoloV3Options options = {.grids = {{32, {{90, 80}}}, {16, {{30, 20}, {25, 45}}}, {8, {}}}};
  EXPECT_EQ(nn::DescribeOptions(options),
            "grids=[32, 1, 16, 2, 8, 0], anchors=[90, 80, 30, 20, 25, 45]");
  Reader<int64_t> reader = {"grids", {64, 0, 4, 3}};
  options.Visit(reader);
  ASSERT_EQ(options.grids.size(), 2u);
  EXPECT_EQ(options.grids[0].stride, 64);
  EXPECT_TRUE(options.grids[0].anchors.empty());
  ASSERT_EQ(options.grids[1].anchors.size(), 3u);
  EXPECT_EQ(options.grids[1].anchors[2][1], 45);
  ExpectHas(ErrorOf<int64_t>(options, "grids", {64, 4}), "of which 3 are left, got 4");
  ExpectHas(ErrorOf<int64_t>(options, "grids", {64, -1}), "got -1");
  ExpectHas(ErrorOf<int64_t>(options, "grids", {64, 2}),
            "expected 2 anchors, as grids tell, got 3");
}

TEST(DescribedOptions, ResnetTellsWhatIsDilated) {
  ResnetOptions options = {.bottleneck = true, .dilated = {false, true, true}};
  EXPECT_EQ(nn::DescribeOptions(options), "units=[2, 2, 2, 2], bottleneck=true, dilated=[0, 1, 1]");
  Reader<int64_t> reader = {"dilated", {1, 0, 0}};
  options.Visit(reader);
  const std::array<bool, 3> read = {true, false, false};
  EXPECT_EQ(options.dilated, read);
  ExpectHas(ErrorOf<int64_t>(options, "dilated", {1}), "expected 3 numbers, got 1");
}

// Units of two convolutions have no dilation, and would have ignored it silently.
TEST(DescribedOptions, ResnetWithoutBottlenecksIsNotDilated) {
  try {
    Resnet net({.classes = 2, .dilated = {false, false, true}});
    FAIL() << net.Describe();
  } catch (const Error& e) {
    ExpectHas(e.what(), "expected bottlenecks");
  }
}

}  // namespace
}  // namespace firn::zoo

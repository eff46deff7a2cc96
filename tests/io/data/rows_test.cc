// Samples out of rows, and rows out of samples.
#include "firn/io/data/rows.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/io/data/data_loader.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;

// Row i: a = [i], b = [10 i], c = [i / 2].
class ThreeColumns final : public Dataset {
 public:
  int64_t size() const override { return 4; }
  Sample Get(int64_t i) const override {
    const auto x = static_cast<float>(i);
    return Sample::Named(
        {{"a", FromValues({x})}, {"b", FromValues({10 * x})}, {"c", FromValues({x / 2})}});
  }
};

TEST(RowsTest, TwoVariablesMakeSamples) {
  const DatasetPtr rows = std::make_shared<ThreeColumns>();
  const DatasetPtr picked = Pick(rows, {.input = "b", .target = "a"});
  EXPECT_EQ(picked->size(), 4);
  EXPECT_THAT(picked->Get(3).input.ToVector<float>(), ElementsAre(30));
  EXPECT_THAT(picked->Get(3).target.ToVector<float>(), ElementsAre(3));
  EXPECT_FALSE(Pick(rows, {.input = "c", .target = ""})->Get(1).target.defined());
  EXPECT_THAT(ErrorOf([&] { Pick(rows); }), HasSubstr("a variable called x, got a, b, c"));
  EXPECT_THAT(ErrorOf([&] { Pick(nullptr); }), HasSubstr("null"));
}

TEST(RowsTest, VariablesAreFoundByTheirNamesInEachSample) {
  const DatasetPtr rows = FromFunction(3, [](int64_t i) {
    const Tensor x(1), y(2);
    return Sample::Named(i == 0   ? NamedTensors{{"x", x}, {"y", y}}
                         : i == 1 ? NamedTensors{{"y", y}, {"x", x}}
                                  : NamedTensors{{"z", x}, {"y", y}});
  });
  const DatasetPtr picked = Pick(rows);
  for (const int64_t i : {0, 1}) {
    EXPECT_EQ(picked->Get(i).input.Item<int>(), 1);
    EXPECT_EQ(picked->Get(i).target.Item<int>(), 2);
  }
  EXPECT_THAT(ErrorOf([&] { picked->Get(2); }),
              HasSubstr("sample 2: sample: expected a tensor called x, got z, y"));
}

// What docs/nnabla.md does with three variables.
TEST(RowsTest, TwoInputsBecomeOne) {
  const DatasetPtr rows = std::make_shared<ThreeColumns>();
  const DatasetPtr pairs = FromFunction(rows->size(), [rows](int64_t i) {
    auto [a, b, c] = rows->Get(i).As<3>();
    return Sample{firn::Stack({a, b}), c};
  });
  std::vector<float> inputs, targets;
  for (auto [input, target] : DataLoader(pairs, {.batch = 2})) {
    EXPECT_EQ(input.shape(), Shape({2, 2, 1}));
    for (const float v : input.ToVector<float>()) inputs.push_back(v);
    for (const float v : target.ToVector<float>()) targets.push_back(v);
  }
  EXPECT_THAT(inputs, ElementsAre(0, 0, 1, 10, 2, 20, 3, 30));
  EXPECT_THAT(targets, ElementsAre(0, 0.5f, 1, 1.5f));
}

TEST(RowsTest, ATargetMayBeAClass) {
  const DatasetPtr picked = Pick(std::make_shared<ThreeColumns>(),
                                 {.input = "a", .target = "c", .target_is_class = true});
  EXPECT_EQ(picked->Get(2).target.spec().ToString(), "i64 [] on cpu");
  EXPECT_EQ(picked->Get(2).target.Item<int64_t>(), 1);
  EXPECT_THAT(ErrorOf([&] { picked->Get(3); }),
              HasSubstr("sample 3: pick: expected a class, one whole number >= 0, got 1.5"));
  const auto error = [](const Tensor& target) {
    const DatasetPtr rows = NameSamples(FromTensors(Ones({1, 1}), target));
    return ErrorOf([&] { Pick(rows, {.target_is_class = true})->Get(0); });
  };
  EXPECT_THAT(error(Full({1, 1}, -1)), HasSubstr("got -1"));
  EXPECT_THAT(error(Full({1, 1}, 0.0 / 0.0)), HasSubstr("nan"));
  EXPECT_THAT(error(Full({1, 1}, 1e30)), HasSubstr("expected a class"));
  EXPECT_THAT(error(Ones({1, 2})), HasSubstr("got f32 [2]"));
}

TEST(RowsTest, SubsetChoosesRows) {
  const DatasetPtr some = Subset(std::make_shared<ThreeColumns>(), {3, 0, 3});
  EXPECT_EQ(some->size(), 3);
  EXPECT_THAT(some->variables(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(some->Get(0)[1].ToVector<float>(), ElementsAre(30));
  EXPECT_THAT(some->Get(1)[1].ToVector<float>(), ElementsAre(0));
  EXPECT_THAT(ErrorOf([&] { some->Get(3); }), HasSubstr("index 3 is outside [0, 3)"));
  EXPECT_THAT(ErrorOf([] { Subset(std::make_shared<ThreeColumns>(), {4}); }),
              HasSubstr("index 4 is outside [0, 4)"));
}

TEST(RowsTest, SamplesBecomeRowsAndBack) {
  const DatasetPtr samples =
      FromTensors(FromVector(std::vector<float>{1, 2, 3, 4}, {2, 2}), FromValues<int64_t>({7, 8}));
  const DatasetPtr rows = NameSamples(samples, "image", "label");
  EXPECT_THAT(rows->variables(), ElementsAre("image", "label"));
  const DatasetPtr again = Pick(rows, {.input = "image", .target = "label"});
  EXPECT_THAT(again->GetBatch({1, 0}).input.ToVector<float>(), ElementsAre(3, 4, 1, 2));
  EXPECT_THAT(again->GetBatch({1, 0}).target.ToVector<int64_t>(), ElementsAre(8, 7));
  EXPECT_THAT(NameSamples(FromTensors(Ones({2, 3})))->variables(), ElementsAre("x"));
  EXPECT_THAT(rows->GetBatch({1, 0})["label"].ToVector<int64_t>(), ElementsAre(8, 7));
  const DatasetPtr other = NameSamples(std::make_shared<ThreeColumns>());
  EXPECT_THAT(other->Get(2).variables(), ElementsAre("x", "y"));
  EXPECT_THAT(other->Get(2)["y"].ToVector<float>(), ElementsAre(20));
  EXPECT_THAT(ErrorOf([&] { NameSamples(samples, "x", "x"); }), HasSubstr("both called x"));
}

}  // namespace
}  // namespace firn::io

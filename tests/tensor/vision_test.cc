// Boxes, regions, windows and resizing in cases that the conformance suite does not have: half
// types, which their functions compute in f32, NaN, windows far larger than images, and no batches
// or boxes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<int64_t> Sorted(const Tensor& y) {
  std::vector<int64_t> v = y.ToVector<int64_t>();
  std::sort(v.begin(), v.end());
  return v;
}

void ExpectContains(const std::string& error, const std::string& part) {
  EXPECT_NE(error.find(part), std::string::npos) << "\"" << error << "\" lacks \"" << part << "\"";
}

// --- Half types ---------------------------------------------------------------------------------

TEST(VisionTest, HalfTypesComputeInF32) {
  using Function = std::function<Tensor(const std::vector<Tensor>&)>;
  struct Case {
    const char* name;
    std::vector<Tensor> inputs;
    Function f;
  };
  const Tensor corners = Rand({5, 2}), boxes = Concat({corners, Add(corners, Rand({5, 2}))}, 1);
  const Tensor regions = Concat({Zeros({3, 1}), Mul(Slice(boxes, 0, 0, 3), 4.)}, 1);
  const Tensor x = Randn({1, 2, 6, 5});
  const std::vector<Case> cases = {
      {"box_iou", {boxes, boxes}, [](auto& in) { return BoxIou(in[0], in[1]); }},
      {"nms", {boxes, Rand({5})}, [](auto& in) { return Nms(in[0], in[1], 0.3); }},
      {"non_max_suppression",
       {Unsqueeze(boxes, 0), Rand({1, 2, 5})},
       [](auto& in) { return NonMaxSuppression(in[0], in[1], {.max_per_class = 3}); }},
      {"nms_detection2d",
       {Rand({1, 4, 8})},
       [](auto& in) { return NmsDetection2d(in[0], {.threshold = 0.25}); }},
      {"roi_align", {x, regions}, [](auto& in) { return RoiAlign(in[0], in[1], 2); }},
      {"roi_pool", {x, regions}, [](auto& in) { return RoiPool(in[0], in[1], 2); }},
      {"patch_correlation",
       {x, Randn({1, 2, 6, 5})},
       [](auto& in) { return PatchCorrelation(in[0], in[1], {.patch = 2, .shift = 1}); }},
      {"deform_conv2d",
       {x, Randn({1, 8, 5, 4}), Randn({3, 2, 2, 2}), Randn({3}), Rand({1, 4, 5, 4})},
       [](auto& in) { return DeformConv2d(in[0], in[1], in[2], in[3], in[4]); }},
      {"adaptive_separable_conv2d",
       {x, Randn({1, 3, 4, 4}), Randn({1, 2, 4, 4})},
       [](auto& in) { return AdaptiveSeparableConv2d(in[0], in[1], in[2]); }},
      {"resize",
       {x},
       [](auto& in) {
         return Resize(in[0], {.sizes = {4, 7},
                               .dims = {2, 3},
                               .mode = ResizeMode::kCubic,
                               .coordinates = ResizeCoordinates::kAsymmetric});
       }},
  };
  for (const DType half : {DType::kF16, DType::kBF16}) {
    for (const Case& c : cases) {
      std::vector<Tensor> narrow, wide;
      for (const Tensor& t : c.inputs) {
        narrow.push_back(Cast(t, half));
        wide.push_back(Cast(narrow.back(), DType::kF32));
      }
      const Tensor y = c.f(narrow), exact = c.f(wide);
      EXPECT_GT(y.num_elements(), 0) << c.name;
      const bool list = exact.dtype() == DType::kI64;
      EXPECT_TRUE(y.Equals(list ? exact : Cast(exact, half))) << c.name;
    }
  }
}

// --- Boxes --------------------------------------------------------------------------------------

TEST(VisionTest, BoxesOfNoNumbersOverlapNothingInEitherOrder) {
  // Each stands beside a box within the span of its other numbers.
  for (const float number : {kNan, kInf, -kInf}) {
    for (int64_t at = 0; at < 4; ++at) {
      std::vector<float> numbers = {0, 0, 10, 8, 1, 1, 9, 7};
      numbers[static_cast<size_t>(at)] = number;
      const Tensor boxes = FromVector(numbers, {2, 4});
      for (const std::vector<float>& scores : {std::vector<float>{1, 2}, {2, 1}}) {
        EXPECT_EQ(Nms(boxes, FromVector(scores, {2}), 0).num_elements(), 2)
            << number << " at " << at;
      }
      EXPECT_EQ(BoxIou(boxes, boxes).ToVector<float>(), std::vector<float>({0, 0, 0, 1}))
          << number << " at " << at;
    }
  }
}

TEST(VisionTest, ScoresOfNoNumbersAreNeverKept) {
  const Tensor boxes = FromVector<float>({0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, {3, 4});
  EXPECT_EQ(Sorted(Nms(boxes, FromVector<float>({kNan, -kInf, kInf}, {3}), 0.5)),
            std::vector<int64_t>({1, 2}));
}

// --- Regions ------------------------------------------------------------------------------------

TEST(VisionTest, RegionsOfNoNumbersAreZeros) {
  const Tensor x = Ones({2, 3, 4, 4});
  for (const float number : {kNan, kInf, -kInf}) {
    for (int64_t at = 0; at < 5; ++at) {
      std::vector<float> box = {1, 0, 0, 3, 3};
      box[static_cast<size_t>(at)] = number;
      const Tensor boxes = FromVector(box, {1, 5});
      for (const Tensor& y : {RoiAlign(x, boxes, 2), RoiAlign(x, boxes, 2, {.sampling_ratio = 2}),
                              RoiPool(x, boxes, 2)}) {
        // A region that reaches to infinity may cover elements, but changes no other results.
        EXPECT_TRUE(LogicalOr(Eq(y, 0), Eq(y, 1)).Equals(Ones(y.shape(), DType::kBool)))
            << number << " at " << at;
        if (at == 0 || number != number) {
          EXPECT_TRUE(y.Equals(Zeros(y.shape()))) << number << " at " << at;
        }
      }
    }
  }
}

TEST(VisionTest, RegionsOfOtherSamplesAreZeros) {
  const Tensor x = Ones({2, 1, 3, 3});
  for (const float sample : {-1.f, -0.5f, 2.f, 1e30f, -1e30f}) {
    const Tensor boxes = FromVector<float>({sample, 0, 0, 3, 3}, {1, 5});
    EXPECT_TRUE(RoiAlign(x, boxes, 1).Equals(Zeros({1, 1, 1, 1}))) << sample;
    EXPECT_TRUE(RoiPool(x, boxes, 1).Equals(Zeros({1, 1, 1, 1}))) << sample;
  }
}

TEST(VisionTest, RegionsThatMemoryCannotHoldAreErrors) {
  const Tensor x = Ones({1, 1, 2, 2}), boxes = Zeros({1, 5});
  const int64_t huge = int64_t{1} << 40;
  EXPECT_NE(ErrorOf([&] { RoiAlign(x, boxes, {huge, huge}); }), "");
  EXPECT_NE(ErrorOf([&] { RoiPool(x, boxes, {huge, huge}); }), "");
  EXPECT_NE(ErrorOf([&] { RoiPool(x, boxes, huge); }), "");
}

// --- Windows ------------------------------------------------------------------------------------

TEST(VisionTest, PatchesFarLargerThanImagesTakeNoLonger) {
  const int64_t huge = int64_t{1} << 30;
  const Tensor y = PatchCorrelation(Ones({1, 2, 3, 3}), Ones({1, 2, 3, 3}),
                                    {.patch = huge, .padding = huge / 2});
  EXPECT_TRUE(y.Equals(Full({1, 1, 1, 4, 4}, 18.0, DType::kF32)));
}

TEST(VisionTest, ABatchOfNothingGivesNothing) {
  const Tensor x = Zeros({0, 2, 3, 3}).SetRequiresGrad(true);
  const Tensor weight = Ones({4, 2, 2, 2}).SetRequiresGrad(true);
  const Tensor y = DeformConv2d(x, Zeros({0, 8, 2, 2}), weight, Ones({4}), Ones({0, 4, 2, 2}));
  EXPECT_EQ(y.shape(), Shape({0, 4, 2, 2}));
  Sum(y).Backward();
  EXPECT_TRUE(weight.grad().Equals(Zeros({4, 2, 2, 2})));
  EXPECT_EQ(x.grad().shape(), x.shape());
}

// --- Resize -------------------------------------------------------------------------------------

TEST(VisionTest, WideWindowsOfResizeAreMeans) {
  const int64_t size = int64_t{1} << 18;
  const Tensor x =
      Reshape(Arange(0., static_cast<double>(size), 1., {.dtype = DType::kF64}), {1, size});
  const Tensor y = Resize(x, {.sizes = {3},
                              .dims = 1,
                              .mode = ResizeMode::kLinear,
                              .exclude_outside = true,
                              .antialias = true});
  // The middle one's window is symmetrical, those at the ends mirror each other.
  const std::vector<double> got = y.ToVector<double>();
  const double middle = static_cast<double>(size - 1) / 2;
  EXPECT_NEAR(got[1], middle, 1e-3);
  EXPECT_NEAR(got[0] + got[2], 2 * middle, 1e-3);
  // The mean of i with weights 1 - |i - c| / w from 0 on, c = w / 2: 25 w / 42.
  EXPECT_NEAR(got[0], 25.0 / 42 * static_cast<double>(size) / 3, 2);
}

TEST(VisionTest, WindowsOfResizeThatMemoryCannotHoldAreErrors) {
  const Tensor x = Ones({1, 4});
  ExpectContains(ErrorOf([&] {
                   Resize(x, {.scales = {1e-30},
                              .dims = 1,
                              .mode = ResizeMode::kLinear,
                              .coordinates = ResizeCoordinates::kCropAndResize,
                              .roi = {0, 1e30},
                              .antialias = true});
                 }),
                 "resize: dimension 1 would get 4 elements of 2e+30 of x [1, 4]: expected 2^27");
  // Places beyond every number are outside, and no error.
  const Tensor y = Resize(x, {.sizes = {2},
                              .dims = 1,
                              .mode = ResizeMode::kLinear,
                              .coordinates = ResizeCoordinates::kCropAndResize,
                              .extrapolation_value = 7,
                              .roi = {-1e308, 1e308}});
  EXPECT_TRUE(y.Equals(Full({1, 2}, 7.0, DType::kF32)));
}

}  // namespace
}  // namespace firn

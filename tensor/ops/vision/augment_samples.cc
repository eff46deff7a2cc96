#include "firn/tensor/ops/random/random_samples.h"
#include "firn/tensor/ops/vision/augment.h"
#include "firn/tensor/testing/samples.h"

// tests/tensor/augment_test.cc and image_augmentation_test.cc test which changes are drawn, and how
// often.

namespace firn::testing {
namespace {

struct CropAttrs {
  std::vector<int64_t> shape = {};
  int64_t base_dim = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("shape", shape);
    v.Field("base_dim", base_dim);
  }
};

FIRN_REGISTER_COMPOSITE(random_crop) {
  AddDrawing<CropAttrs>(s, {{.name = "x"}}, [](In in, const CropAttrs& a, RandomGenerator* g) {
    return RandomCrop(in[0], Shape(a.shape), a.base_dim, g);
  });
  s.Add("images", {Normal({2, 8, 5, 4}), State()}, CropAttrs{{3, 4}});
  s.Add("no samples", {Normal({5, 4}), State()}, CropAttrs{{2, 2}, 0});
  s.Add("integers", {Integers({3, 5}, 0, 9), State()}, CropAttrs{{2}});
  s.Add("bool", {Booleans({3, 5}), State()}, CropAttrs{{2}});
  s.Add("nothing", {Normal({0, 5}), State()}, CropAttrs{{2}});
  s.AddLarge("64x3x224x224", {Normal({64, 3, 256, 256}), State()}, CropAttrs{{224, 224}}, 0, 77e6);
  s.AddError("window", {Normal({2, 5}), State()}, CropAttrs{{6}},
             "a window [6] does not fit x [2, 5] from dimension 1 on");
  s.AddError("base_dim", {Normal({2, 5}), State()}, CropAttrs{{3}, 3},
             "base_dim 3 is no dimension");
}

struct FlipsAttrs {
  DimList dims = -1;
  int64_t base_dim = 1;
  double p = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
    v.Field("base_dim", base_dim);
    v.Field("p", p);
  }
};

FIRN_REGISTER_COMPOSITE(random_flip) {
  AddDrawing<FlipsAttrs>(s, {{.name = "x"}}, [](In in, const FlipsAttrs& a, RandomGenerator* g) {
    return RandomFlip(in[0], {.dims = a.dims, .base_dim = a.base_dim, .p = a.p, .generator = g});
  });
  s.Add("images", {Normal({2, 8, 3, 4}), State()}, FlipsAttrs{{2, 3}});
  s.Add("no samples", {Normal({3, 4}), State()}, FlipsAttrs{{0, -1}, 0, 0.25});
  s.Add("integers", {Integers({3, 5}, 0, 9), State()}, FlipsAttrs{});
  s.Add("bool", {Booleans({3, 5}), State()}, FlipsAttrs{});
  s.Add("nothing", {Normal({0, 5}), State()}, FlipsAttrs{});
  s.AddLarge("64x3x224x224", {Normal({64, 3, 224, 224}), State()}, FlipsAttrs{}, 0, 77e6);
  s.AddError("dims", {Normal({2, 5}), State()}, FlipsAttrs{0},
             "dimension 0 stands before base_dim 1");
  s.AddError("p", {Normal({2, 5}), State()}, FlipsAttrs{-1, 1, 2}, "p 2 is outside [0, 1]");
}

struct ShiftAttrs {
  std::vector<int64_t> shifts = {};
  ShiftBorder border = ShiftBorder::kNearest;
  double value = 0;
  int64_t base_dim = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("shifts", shifts);
    v.Field("border", border);
    v.Field("value", value);
    v.Field("base_dim", base_dim);
  }
};

FIRN_REGISTER_COMPOSITE(random_shift) {
  AddDrawing<ShiftAttrs>(s, {{.name = "x"}}, [](In in, const ShiftAttrs& a, RandomGenerator* g) {
    return RandomShift(
        in[0], a.shifts,
        {.border = a.border, .value = a.value, .base_dim = a.base_dim, .generator = g});
  });
  s.Add("images", {Normal({2, 8, 3, 4}), State()}, ShiftAttrs{{2, 1}});
  s.Add("reflected", {Normal({3, 4}), State()}, ShiftAttrs{{9}, ShiftBorder::kReflect});
  s.Add("a value", {Normal({3, 4, 2}), State()}, ShiftAttrs{{3, 0}, ShiftBorder::kConstant, 0.5});
  s.Add("no samples", {Normal({3, 4}), State()}, ShiftAttrs{{1, 2}, ShiftBorder::kNearest, 0, 0});
  s.Add("integers", {Integers({3, 5}, 0, 9), State()}, ShiftAttrs{{2}});
  s.Add("bool", {Booleans({3, 5}), State()}, ShiftAttrs{{2}});
  s.Add("nothing", {Normal({0, 5}), State()}, ShiftAttrs{{2}});
  s.AddLarge("64x3x224x224", {Normal({64, 3, 224, 224}), State()},
             ShiftAttrs{{8, 8}, ShiftBorder::kConstant}, 0, 77e6);
  s.AddError("shifts", {Normal({2, 5}), State()}, ShiftAttrs{{-1}},
             "expected at most 1 shifts of 0 or more for x [2, 5], got [-1]");
}

struct EraseAttrs {
  double prob = 0.5;
  double area_low = 0.02, area_high = 0.4, aspect_low = 0.3, aspect_high = 1 / 0.3;
  double low = 0, high = 255;
  int64_t n = 1;
  bool share = true;
  int64_t base_dim = 1;
  bool straight_through = false;
  template <class V>
  void Visit(V& v) {
    v.Field("prob", prob);
    v.Field("area_low", area_low);
    v.Field("area_high", area_high);
    v.Field("aspect_low", aspect_low);
    v.Field("aspect_high", aspect_high);
    v.Field("low", low);
    v.Field("high", high);
    v.Field("n", n);
    v.Field("share", share);
    v.Field("base_dim", base_dim);
    v.Field("straight_through", straight_through);
  }
};

FIRN_REGISTER_COMPOSITE(random_erase) {
  AddDrawing<EraseAttrs>(s, {{.name = "x", .dtypes = kFloating, .min_rank = 3}},
                         [](In in, const EraseAttrs& a, RandomGenerator* g) {
                           return RandomErase(in[0], {.prob = a.prob,
                                                      .area = {a.area_low, a.area_high},
                                                      .aspect = {a.aspect_low, a.aspect_high},
                                                      .value = {a.low, a.high},
                                                      .n = a.n,
                                                      .share = a.share,
                                                      .base_dim = a.base_dim,
                                                      .straight_through = a.straight_through,
                                                      .generator = g});
                         });
  s.Add("images", {Normal({4, 8, 5, 4}), State()}, EraseAttrs{.area_low = 0.2});
  s.Add("an image", {Normal({3, 5, 4}), State()},
        EraseAttrs{.prob = 1, .area_low = 0.2, .high = 0, .n = 2, .share = false, .base_dim = 0});
  s.Add("straight through", {Normal({2, 3, 5, 4}), State()}, EraseAttrs{.straight_through = true})
      .check_gradient = false;
  s.Add("nothing", {Normal({0, 3, 5, 4}), State()}, EraseAttrs{});
  s.AddLarge("64x3x224x224", {Normal({64, 3, 224, 224}), State()}, EraseAttrs{}, 0, 77e6);
  s.AddError("prob", {Normal({2, 3, 5, 4}), State()}, EraseAttrs{-1}, "prob -1 is outside [0, 1]");
  s.AddError("area", {Normal({2, 3, 5, 4}), State()}, EraseAttrs{.area_high = 2},
             "area must be a range within 0 to 1, got 0.02 to 2");
  s.AddError("rank", {Normal({3, 5, 4}), State()}, EraseAttrs{}, "x must be samples of [c, h, w]");
}

struct AugmentAttrs {
  std::vector<int64_t> shape = {};
  Sizes pad = 0;
  double min_scale = 1, max_scale = 1, angle = 0, aspect_ratio = 1, distortion = 0;
  bool flip_lr = false, flip_ud = false;
  double brightness = 0;
  bool brightness_each = false;
  double contrast = 1, contrast_center = 0;
  bool contrast_each = false;
  double noise = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("shape", shape);
    v.Field("pad", pad);
    v.Field("min_scale", min_scale);
    v.Field("max_scale", max_scale);
    v.Field("angle", angle);
    v.Field("aspect_ratio", aspect_ratio);
    v.Field("distortion", distortion);
    v.Field("flip_lr", flip_lr);
    v.Field("flip_ud", flip_ud);
    v.Field("brightness", brightness);
    v.Field("brightness_each", brightness_each);
    v.Field("contrast", contrast);
    v.Field("contrast_center", contrast_center);
    v.Field("contrast_each", contrast_each);
    v.Field("noise", noise);
  }
};

Tensor CallAugmentation(In in, const AugmentAttrs& a, RandomGenerator* g) {
  return ImageAugmentation(in[0], {.shape = Shape(a.shape),
                                   .pad = a.pad,
                                   .min_scale = a.min_scale,
                                   .max_scale = a.max_scale,
                                   .angle = a.angle,
                                   .aspect_ratio = a.aspect_ratio,
                                   .distortion = a.distortion,
                                   .flip_lr = a.flip_lr,
                                   .flip_ud = a.flip_ud,
                                   .brightness = a.brightness,
                                   .brightness_each = a.brightness_each,
                                   .contrast = a.contrast,
                                   .contrast_center = a.contrast_center,
                                   .contrast_each = a.contrast_each,
                                   .noise = a.noise,
                                   .generator = g});
}

FIRN_REGISTER_COMPOSITE(image_augmentation) {
  AddDrawing<AugmentAttrs>(s, {{.name = "x", .dtypes = kFloating, .min_rank = 4, .max_rank = 4}},
                           CallAugmentation);
  s.declaration.outputs[0].constant = true;
  const AugmentAttrs moved{.shape = {4, 3},
                           .pad = {1, 2},
                           .min_scale = 0.5,
                           .max_scale = 2,
                           .angle = 0.5,
                           .aspect_ratio = 1.5,
                           .distortion = 0.25,
                           .flip_lr = true,
                           .flip_ud = true};
  s.Add("as it is", {Normal({2, 3, 5, 4}), State()}, AugmentAttrs{});
  s.Add("moved", {Normal({2, 8, 5, 4}), State()}, moved);
  s.Add("other colours", {Normal({2, 3, 5, 4}), State()},
        AugmentAttrs{.brightness = 0.5,
                     .brightness_each = true,
                     .contrast = 1.5,
                     .contrast_center = 0.5,
                     .contrast_each = true,
                     .noise = 0.1});
  s.Add("nothing", {Normal({0, 3, 5, 4}), State()}, AugmentAttrs{});
  s.AddLarge("64x3x64x64", {Normal({64, 3, 64, 64}), State()},
             AugmentAttrs{.angle = 0.25, .flip_lr = true, .brightness = 0.25, .contrast = 1.25}, 0,
             6.3e6);
  s.AddError("rank", {Normal({3, 5, 4}), State()}, AugmentAttrs{}, "x must be [n, c, h, w]");
  s.AddError("shape", {Normal({1, 3, 5, 4}), State()}, AugmentAttrs{.shape = {2, 4, 4}},
             "shape must be [h, w] or [3, h, w], got [2, 4, 4]");
  s.AddError("contrast", {Normal({1, 3, 5, 4}), State()}, AugmentAttrs{.contrast = 0.5},
             "contrast must be a range within 1 to 1e+30");
}

}  // namespace
}  // namespace firn::testing

#include <vector>

#include "firn/tensor/ops/conv/images_samples.h"
#include "firn/tensor/ops/pool/max_unpool.h"
#include "firn/tensor/problems/pool_problem.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// The element of an image [n, c, spatial...] at position `flat` of one channel's.
std::vector<int64_t> Place(const Shape& image, absl::Span<const int64_t> at, int64_t flat) {
  std::vector<int64_t> place(static_cast<size_t>(image.rank()));
  for (int i = image.rank() - 1; i >= 2; --i) {
    place[static_cast<size_t>(i)] = flat % image[i];
    flat /= image[i];
  }
  place[0] = at[0];
  place[1] = at[1];
  return place;
}

Shape ImageShape(const Shape& pooled, const Sizes& image) {
  return *ShapeOfImages(pooled[0], pooled[1], image.Over(pooled.rank() - 2));
}

std::vector<RefTensor> Added(absl::Span<const RefTensor> in, AttrsRef attrs) {
  RefTensor x(ImageShape(in[0].shape, attrs.get<PoolAttrs>().image));
  ForEachIndex(in[0].shape, [&](absl::Span<const int64_t> at) {
    x.at(Place(x.shape, at, static_cast<int64_t>(in[1].at(at)))) += in[0].at(at);
  });
  return {x};
}

std::vector<RefTensor> Gathered(absl::Span<const RefTensor> in, AttrsRef) {
  RefTensor y(in[1].shape);
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
    y.at(at) = in[0].at(Place(in[0].shape, at, static_cast<int64_t>(in[1].at(at))));
  });
  return {y};
}

Tensor Indices32(std::vector<int64_t> values, const Shape& shape) {
  return Indices(std::move(values), shape).To(DType::kI32);
}

FIRN_REGISTER_SAMPLES(max_pool1d_grad) {
  s.Internal("the gradient of max_pool1d");
  s.Reference(Added);
  s.Add("scatter", {Normal({2, 3, 4}), Integers({2, 3, 4}, 0, 7)},
        PoolAttrs{.kernel = 0, .image = 7});
  s.Add("windows", {Normal({1, 2, 3}), Indices32({0, 3, 4, 1, 3, 3}, {1, 2, 3})},
        PoolAttrs{.kernel = 3, .stride = 2, .padding = 1, .image = 5});
  s.AddError("index", {Normal({1, 1, 1}), Indices32({7}, {1, 1, 1})},
             PoolAttrs{.kernel = 0, .image = 7}, "indices 7 at index 0 is outside [0, 7)");
}

FIRN_REGISTER_SAMPLES(max_pool2d_grad) {
  s.Internal("the gradient of max_pool2d");
  s.Reference(Added);
  const Tensor indices = Integers({2, 3, 2, 2}, 0, 20).To(DType::kI32);
  s.Add("scatter", {Normal({2, 3, 2, 2}), indices}, PoolAttrs{.kernel = 0, .image = {4, 5}});
  s.Add("scatter by i64", {Normal({2, 3, 2, 2}), Integers({2, 3, 2, 2}, 0, 20)},
        PoolAttrs{.kernel = 0, .image = {4, 5}});
  s.Add("windows",
        {Normal({2, 2, 2, 3}), Indices32({0, 2, 4, 10, 16, 14, 6, 7, 3, 11, 7,  13,
                                          5, 6, 9, 15, 18, 19, 1, 7, 8, 11, 17, 14},
                                         {2, 2, 2, 3})},
        PoolAttrs{.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .image = {4, 5}});
  s.Add("adaptive windows",
        {Normal({1, 2, 2, 2}), Indices32({0, 2, 10, 13, 6, 8, 11, 14}, {1, 2, 2, 2})},
        PoolAttrs{.kernel = {-1000, 2}, .stride = -1, .adaptive = 2, .image = {3, 5}});
  s.AddError("windows", {Normal({1, 1, 2, 2}), Indices32({0, 2, 10, 13}, {1, 1, 2, 2})},
             PoolAttrs{.kernel = 3, .stride = 2, .padding = 1, .image = {4, 5}},
             "values [1, 1, 2, 2], want one for each of the (2, 3) windows");
  s.AddError("windows of one pixel", {Normal({1, 1, 1, 1}), Indices32({0}, {1, 1, 1, 1})},
             PoolAttrs{.kernel = 1, .stride = 2, .image = {4, 5}},
             "values [1, 1, 1, 1], want one for each of the (2, 3) windows");
  s.AddError("index", {Normal({1, 1, 1, 1}), Indices32({20}, {1, 1, 1, 1})},
             PoolAttrs{.kernel = 0, .image = {4, 5}}, "indices 20 at index 0 is outside [0, 20)");
  s.AddError("image", {Normal({1, 1, 1, 1}), Indices32({0}, {1, 1, 1, 1})},
             PoolAttrs{.kernel = 2, .padding = 1, .image = {4, INT64_MAX}}, "image width 92233720");
  s.AddError("sizes of the image", {Normal({1, 1, 1, 1}), Indices32({0}, {1, 1, 1, 1})},
             PoolAttrs{.kernel = 0, .image = {1, 2, 3}}, "image (1, 2, 3) has 3 numbers");
  s.AddError("shapes", {Normal({1, 1, 1, 1}), indices}, PoolAttrs{.kernel = 0, .image = {4, 5}},
             "indices [2, 3, 2, 2] do not fit values [1, 1, 1, 1]");
}

FIRN_REGISTER_SAMPLES(max_pool3d_grad) {
  s.Internal("the gradient of max_pool3d");
  s.Reference(Added);
  s.Add("scatter", {Normal({2, 2, 2, 1, 3}), Integers({2, 2, 2, 1, 3}, 0, 24)},
        PoolAttrs{.kernel = 0, .image = {2, 3, 4}});
  s.Add("windows",
        {Normal({2, 1, 1, 2, 2}), Indices32({13, 3, 20, 23, 13, 3, 20, 23}, {2, 1, 1, 2, 2})},
        PoolAttrs{.kernel = {2, 2, 2}, .stride = {2, 1, 2}, .image = {2, 3, 4}});
  s.AddError("index", {Normal({1, 1, 1, 1, 1}), Indices32({24}, {1, 1, 1, 1, 1})},
             PoolAttrs{.kernel = 0, .image = {2, 3, 4}},
             "indices 24 at index 0 is outside [0, 24)");
}

FIRN_REGISTER_SAMPLES(max_pool1d_gather) {
  s.Internal("the gradient of max_pool1d_grad");
  s.Reference(Gathered);
  s.Add("gather", {Normal({2, 3, 5}), Integers({2, 3, 2}, 0, 5)});
  s.Add("gather by i32", {Normal({2, 3, 5}), Integers({2, 3, 2}, 0, 5).To(DType::kI32)});
  s.AddError("index", {Normal({1, 1, 4}), Indices32({4}, {1, 1, 1})}, {},
             "indices 4 at index 0 is outside [0, 4)");
}

FIRN_REGISTER_SAMPLES(max_pool2d_gather) {
  s.Internal("the gradient of max_pool2d_grad");
  s.Reference(Gathered);
  s.Add("gather", {Normal({2, 3, 4, 5}), Integers({2, 3, 2, 2}, 0, 20).To(DType::kI32)});
  s.Add("gather by i64", {Normal({2, 3, 4, 5}), Integers({2, 3, 2, 2}, 0, 20)});
  s.AddError("index", {Normal({1, 1, 4, 5}), Indices32({-1}, {1, 1, 1, 1})}, {},
             "indices -1 at index 0 is outside [0, 20)");
}

FIRN_REGISTER_SAMPLES(max_pool3d_gather) {
  s.Internal("the gradient of max_pool3d_grad");
  s.Reference(Gathered);
  s.Add("gather", {Normal({1, 2, 2, 3, 2}), Integers({1, 2, 2, 1, 2}, 0, 12)});
  s.Add("gather by i32",
        {Normal({1, 2, 2, 3, 2}), Integers({1, 2, 2, 1, 2}, 0, 12).To(DType::kI32)});
  s.AddError("index", {Normal({1, 1, 1, 2, 2}), Indices32({4}, {1, 1, 1, 1, 1})}, {},
             "indices 4 at index 0 is outside [0, 4)");
}

FIRN_REGISTER_SAMPLES(max_unpool2d) {
  s.Function([](In in, const UnpoolAttrs& a) {
    return MaxUnpool2d(in[0], in[1], {.output_size = a.output_size});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor y(ImageShape(in[0].shape, attrs.get<UnpoolAttrs>().output_size));
    ForEachIndex(in[0].shape, [&](absl::Span<const int64_t> at) {
      y.at(Place(y.shape, at, static_cast<int64_t>(in[1].at(at)))) = in[0].at(at);
    });
    return std::vector<RefTensor>{y};
  });
  const Tensor apart = Indices({0, 3, 11, 14, 5, 2, 19, 8}, {1, 2, 2, 2});
  s.Add("each place once", {Normal({1, 2, 2, 2}), apart}, UnpoolAttrs{{4, 5}});
  s.Add("by i32", {Normal({1, 2, 2, 2}), apart.To(DType::kI32)}, UnpoolAttrs{{4, 5}});
  // All elements for a place get its gradient, even those that were overwritten.
  s.Add("the last of those at one place", {Normal({2, 16, 2, 3}), Integers({2, 16, 2, 3}, 0, 4)},
        UnpoolAttrs{2})
      .check_gradient = false;
  s.Add("no images", {Normal({0, 2, 2, 2}), Integers({0, 2, 2, 2}, 0, 4)}, UnpoolAttrs{4});
  s.AddLarge("16x64x32x32 to 64x64",
             {Normal({16, 64, 32, 32}), Integers({16, 64, 32, 32}, 0, 64 * 64)}, UnpoolAttrs{64}, 0,
             25e6);
  s.AddError("index", {Normal({1, 1, 1, 1}), Indices({20}, {1, 1, 1, 1})}, UnpoolAttrs{{4, 5}},
             "indices 20 at index 0 is outside [0, 20)");
  s.AddError("shapes", {Normal({1, 1, 2, 2}), Indices({0}, {1, 1, 1, 1})}, UnpoolAttrs{4},
             "indices [1, 1, 1, 1] do not fit values [1, 1, 2, 2]");
  s.AddError("size", {Normal({1, 1, 1, 1}), Indices({0}, {1, 1, 1, 1})}, UnpoolAttrs{{1, 2, 3}},
             "output_size (1, 2, 3) has 3 numbers (want 1 or 2)");
  s.AddError("negative size", {Normal({1, 1, 1, 1}), Indices({0}, {1, 1, 1, 1})}, UnpoolAttrs{-1},
             "negative size in shape");
}

FIRN_REGISTER_GOLDEN(max_unpool2d) {
  MaxUnpool2dOptions options{.kernel = SizesFrom(args, "kernel", 1),
                             .padding = SizesFrom(args, "padding", 0)};
  if (args.Has("stride")) options.stride = SizesFrom(args, "stride", 1);
  if (args.Has("output_size")) options.output_size = SizesFrom(args, "output_size", 1);
  return MaxUnpool2d(args["x"], args["indices"], options);
}

}  // namespace
}  // namespace firn::testing

#include <cmath>

#include "firn/tensor/ops/norm/group_norm.h"
#include "firn/tensor/problems/norm_options.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// Statistics of the row of element i of x, whose groups of channels lie together.
struct Groups {
  int64_t rows, cols, channels, length;
  Groups(const Shape& x, const GroupNormAttrs& a)
      : rows(x[0] * a.num_groups), cols(rows == 0 ? 0 : x.num_elements() / rows), channels(x[1]) {
    length = rows == 0 ? 0 : x.num_elements() / (x[0] * x[1]);
  }
  int64_t row(int64_t i) const { return i / cols; }
  int64_t channel(int64_t i) const { return i / length % channels; }
};

std::vector<RefTensor> Normalized(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const auto& a = attrs.get<GroupNormAttrs>();
  const RefTensor& x = in[0];
  const Groups v(x.shape, a);
  const auto n = static_cast<double>(v.cols);
  RefTensor y(x.shape), mean(Shape({v.rows})), invstd(Shape({v.rows}));
  for (int64_t i = 0; i < x.size(); ++i) mean[v.row(i)] += x[i] / n;
  for (int64_t i = 0; i < x.size(); ++i) {
    invstd[v.row(i)] += std::pow(x[i] - mean[v.row(i)], 2) / n;
  }
  for (double& var : invstd.values) var = 1 / std::sqrt(var + a.eps);
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t c = v.channel(i);
    y[i] = (x[i] - mean[v.row(i)]) * invstd[v.row(i)] * (in[1].defined() ? in[1][c] : 1) +
           (in[2].defined() ? in[2][c] : 0);
  }
  return {y, mean, invstd};
}

// The chain rule through mean and variance, term by term.
std::vector<RefTensor> Gradients(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &dy = in[0], &x = in[1], &mean = in[3], &invstd = in[4];
  const Groups v(x.shape, attrs.get<GroupNormAttrs>());
  const auto n = static_cast<double>(v.cols);
  RefTensor dx(x.shape), dweight(Shape({x.shape[1]})), dbias(Shape({x.shape[1]}));
  std::vector<double> dvar(static_cast<size_t>(v.rows)), dmean(dvar);
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto r = static_cast<size_t>(v.row(i));
    const int64_t c = v.channel(i);
    const double centred = x[i] - mean[v.row(i)], scale = invstd[v.row(i)];
    const double dxhat = dy[i] * (in[2].defined() ? in[2][c] : 1);
    dvar[r] += dxhat * centred * -0.5 * std::pow(scale, 3);
    dmean[r] -= dxhat * scale;
    dweight[c] += dy[i] * centred * scale;
    dbias[c] += dy[i];
    dx[i] = dxhat * scale;
  }
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto r = static_cast<size_t>(v.row(i));
    dx[i] += dvar[r] * 2 * (x[i] - mean[v.row(i)]) / n + dmean[r] / n;
  }
  return {dx, dweight, dbias};
}

FIRN_REGISTER_SAMPLES(affine_group_norm) {
  s.Internal("group_norm of channels of some length");
  s.Reference(Normalized);
  const Tensor none;
  s.Add("two groups", {Normal({2, 4, 3}), Normal({4}, 2), Normal({4}, 3)}, GroupNormAttrs{2});
  s.Add("one group", {Normal({2, 3, 4}), Normal({3}, 2), none}, GroupNormAttrs{1, 1e-2});
  s.Add("each channel", {Normal({2, 3, 40}), none, Normal({3}, 3)}, GroupNormAttrs{3});
  s.Add("nothing else", {Normal({3, 2, 7}), none, none}, GroupNormAttrs{2});
  s.Add("no samples", {Normal({0, 4, 3}), Normal({4}, 2), none}, GroupNormAttrs{2});
  s.AddLarge("32x64x1024", {Normal({32, 64, 1024}), Normal({64}, 2), Normal({64}, 3)},
             GroupNormAttrs{8}, 8 * 2.1e6, 16.8e6);
  s.AddError("weight", {Normal({2, 4, 3}), Normal({3}), none}, GroupNormAttrs{2},
             "weight [3] does not fit the 4 channels of x [2, 4, 3]");
  s.AddError("groups", {Normal({2, 4, 3}), none, none}, GroupNormAttrs{3},
             "groups 3 must divide the 4 channels of x [2, 4, 3]");
}

FIRN_REGISTER_SAMPLES(affine_group_norm_grad) {
  s.Internal("the gradient of affine_group_norm");
  s.Reference(Gradients);
  const Tensor none;
  s.Add("two groups",
        {Normal({2, 4, 3}), Normal({2, 4, 3}, 2), Normal({4}, 3), Normal({4}, 4),
         Uniform({4}, 0.5, 2, 5)},
        GroupNormAttrs{2});
  s.Add("each channel, no weight",
        {Normal({3, 2, 40}), Normal({3, 2, 40}, 2), none, Normal({6}, 4), Uniform({6}, 0.5, 2, 5)},
        GroupNormAttrs{2});
  s.AddLarge("32x64x1024",
             {Normal({32, 64, 1024}), Normal({32, 64, 1024}, 2), Normal({64}, 3), Normal({256}, 4),
              Uniform({256}, 0.5, 2, 5)},
             GroupNormAttrs{8}, 10 * 2.1e6, 25.2e6);
  s.AddError(
      "mean",
      {Normal({2, 4, 3}), Normal({2, 4, 3}, 2), none, Normal({2}, 4), Uniform({4}, 0.5, 2, 5)},
      GroupNormAttrs{2}, "do not fit x");
}

FIRN_REGISTER_COMPOSITE(group_norm) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 2},
             {.name = "weight", .same_dtype_as = "x", .optional = true},
             {.name = "bias", .same_dtype_as = "x", .optional = true}});
  s.Function([](In in, const GroupNormAttrs& a) {
    return GroupNorm(in[0], a.num_groups, in[1], in[2], a.eps);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return std::vector<RefTensor>{Normalized(in, attrs)[0]};
  });
  const Tensor none;
  s.Add("two groups", {Normal({2, 4, 3}), Normal({4}, 2), Normal({4}, 3)}, GroupNormAttrs{2});
  s.Add("one group", {Normal({2, 3, 2, 2}), Normal({3}, 2), none}, GroupNormAttrs{1, 1e-2});
  s.Add("each channel", {Normal({2, 3, 5}), none, Normal({3}, 3)}, GroupNormAttrs{3});
  s.Add("channels of some length", {Normal({2, 4, 6, 6}), Normal({4}, 2), Normal({4}, 3)},
        GroupNormAttrs{2});
  s.Add("rows", {Normal({3, 8}), none, none}, GroupNormAttrs{2});
  s.Add("blocked channels", {Normal({2, 16, 3, 3}), Normal({16}, 2), Normal({16}, 3)},
        GroupNormAttrs{4});
  s.Add("nothing", {Normal({0, 4, 3}), Normal({4}, 2), none}, GroupNormAttrs{2});
  s.AddError("groups", {Normal({2, 4, 3}), none, none}, GroupNormAttrs{3},
             "num_groups 3 must divide the 4 channels of x [2, 4, 3]");
  s.AddError("rank", {Normal({4}), none, none}, GroupNormAttrs{2},
             "x must have at least 2 dimensions, got f64 [4]");
}

}  // namespace
}  // namespace firn::testing

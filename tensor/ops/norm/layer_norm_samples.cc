#include <cmath>

#include "firn/tensor/ops/norm/layer_norm.h"
#include "firn/tensor/problems/norm_options.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> Normalized(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor& x = in[0];
  const int64_t rows = x.shape[0], cols = x.shape[1];
  RefTensor y(x.shape), mean(Shape({rows})), invstd(Shape({rows}));
  for (int64_t r = 0; r < rows; ++r) {
    double var = 0;
    for (int64_t c = 0; c < cols; ++c) mean[r] += x[r * cols + c] / static_cast<double>(cols);
    for (int64_t c = 0; c < cols; ++c) {
      var += std::pow(x[r * cols + c] - mean[r], 2) / static_cast<double>(cols);
    }
    invstd[r] = 1 / std::sqrt(var + attrs.get<LayerNormAttrs>().eps);
    for (int64_t c = 0; c < cols; ++c) {
      y[r * cols + c] = (x[r * cols + c] - mean[r]) * invstd[r] * (in[1].defined() ? in[1][c] : 1) +
                        (in[2].defined() ? in[2][c] : 0);
    }
  }
  return {y, mean, invstd};
}

// The chain rule through mean and variance, term by term.
std::vector<RefTensor> Gradients(absl::Span<const RefTensor> in, AttrsRef) {
  const RefTensor &dy = in[0], &x = in[1], &mean = in[3], &invstd = in[4];
  const int64_t rows = x.shape[0], cols = x.shape[1];
  const auto n = static_cast<double>(cols);
  RefTensor dx(x.shape), dweight(Shape({cols})), dbias(Shape({cols}));
  for (int64_t r = 0; r < rows; ++r) {
    double dvar = 0, dmean = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t i = r * cols + c;
      const double centred = x[i] - mean[r];
      const double dxhat = dy[i] * (in[2].defined() ? in[2][c] : 1);
      dvar += dxhat * centred * -0.5 * std::pow(invstd[r], 3);
      dmean -= dxhat * invstd[r];
      dweight[c] += dy[i] * centred * invstd[r];
      dbias[c] += dy[i];
      dx[i] = dxhat * invstd[r];
    }
    for (int64_t c = 0; c < cols; ++c) {
      dx[r * cols + c] += dvar * 2 * (x[r * cols + c] - mean[r]) / n + dmean / n;
    }
  }
  return {dx, dweight, dbias};
}

FIRN_REGISTER_SAMPLES(layer_norm) {
  s.Function([](In in, const LayerNormAttrs& a) {
    return LayerNorm(in[0], {in[0].size(1)}, in[1], in[2], a.eps);
  });
  s.Reference(Normalized);
  const Tensor none;
  s.Add("matrix", {Normal({3, 5}), Normal({5}, 2), Normal({5}, 3)}, LayerNormAttrs{});
  s.Add("no affine map, other eps", {Normal({4, 7}), none, none}, LayerNormAttrs{.eps = 0.1});
  s.Add("long rows", {Normal({2, 70}), Normal({70}, 2), none}, LayerNormAttrs{});
  s.AddLarge("512x768", {Normal({512, 768}), Normal({768}, 2), Normal({768}, 3)}, LayerNormAttrs{},
             3e6, 3.1e6);
  s.AddError("weight", {Normal({2, 3}), Normal({2}), none}, LayerNormAttrs{},
             "weight [2] does not fit the 3 normalised elements");
  s.AddError("rank", {Normal({3}), none, none}, LayerNormAttrs{}, "x must have 2 dimensions");
}

FIRN_REGISTER_SAMPLES(layer_norm_grad) {
  s.Internal("the gradient of layer_norm");
  s.Reference(Gradients);
  const Tensor none;
  s.Add("matrix", {Normal({3, 5}), Normal({3, 5}, 2), Normal({5}, 3), Normal({3}, 4),
                   Uniform({3}, 0.5, 2, 5)});
  s.Add("no weight, more rows than parts",
        {Normal({19, 4}), Normal({19, 4}, 2), none, Normal({19}, 4), Uniform({19}, 0.5, 2, 5)});
  s.AddLarge("512x768",
             {Normal({512, 768}), Normal({512, 768}, 2), Normal({768}, 3), Normal({512}, 4),
              Uniform({512}, 0.5, 2, 5)},
             {}, 5e6, 4.7e6);
  s.AddError("mean",
             {Normal({3, 5}), Normal({3, 5}, 2), none, Normal({5}, 4), Uniform({3}, 0.5, 2, 5)}, {},
             "do not fit x");
}

std::vector<RefTensor> Scaled(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor& x = in[0];
  const int64_t rows = x.shape[0], cols = x.shape[1];
  RefTensor y(x.shape), invrms(Shape({rows}));
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += x[r * cols + c] * x[r * cols + c];
    invrms[r] =
        1 / std::sqrt(squares / static_cast<double>(cols) + attrs.get<LayerNormAttrs>().eps);
    for (int64_t c = 0; c < cols; ++c) {
      y[r * cols + c] = x[r * cols + c] * invrms[r] * (in[1].defined() ? in[1][c] : 1);
    }
  }
  return {y, invrms};
}

// The chain rule through the mean of squares.
std::vector<RefTensor> ScaledGradients(absl::Span<const RefTensor> in, AttrsRef) {
  const RefTensor &dy = in[0], &x = in[1], &invrms = in[3];
  const int64_t rows = x.shape[0], cols = x.shape[1];
  RefTensor dx(x.shape), dweight(Shape({cols}));
  for (int64_t r = 0; r < rows; ++r) {
    double dsquare = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t i = r * cols + c;
      dx[i] = dy[i] * (in[2].defined() ? in[2][c] : 1) * invrms[r];
      dsquare -= 0.5 * dx[i] * x[i] * std::pow(invrms[r], 2);
      dweight[c] += dy[i] * x[i] * invrms[r];
    }
    for (int64_t c = 0; c < cols; ++c) {
      dx[r * cols + c] += dsquare * 2 * x[r * cols + c] / static_cast<double>(cols);
    }
  }
  return {dx, dweight};
}

FIRN_REGISTER_SAMPLES(rms_norm) {
  s.Function(
      [](In in, const LayerNormAttrs& a) { return RmsNorm(in[0], {in[0].size(1)}, in[1], a.eps); });
  s.Reference(Scaled);
  const Tensor none;
  s.Add("matrix", {Normal({3, 5}), Normal({5}, 2)}, LayerNormAttrs{});
  s.Add("no weight, other eps", {Normal({4, 7}), none}, LayerNormAttrs{.eps = 0.1});
  s.Add("long rows", {Normal({2, 70}), Normal({70}, 2)}, LayerNormAttrs{});
  s.AddLarge("512x768", {Normal({512, 768}), Normal({768}, 2)}, LayerNormAttrs{}, 2e6, 3.1e6);
  s.AddError("weight", {Normal({2, 3}), Normal({2})}, LayerNormAttrs{},
             "weight [2] does not fit the 3 normalised elements");
  s.AddError("rank", {Normal({3}), none}, LayerNormAttrs{}, "x must have 2 dimensions");
}

FIRN_REGISTER_SAMPLES(rms_norm_grad) {
  s.Internal("the gradient of rms_norm");
  s.Reference(ScaledGradients);
  const Tensor none;
  s.Add("matrix", {Normal({3, 5}), Normal({3, 5}, 2), Normal({5}, 3), Uniform({3}, 0.5, 2, 5)});
  s.Add("no weight, more rows than parts",
        {Normal({19, 4}), Normal({19, 4}, 2), none, Uniform({19}, 0.5, 2, 5)});
  s.AddLarge(
      "512x768",
      {Normal({512, 768}), Normal({512, 768}, 2), Normal({768}, 3), Uniform({512}, 0.5, 2, 5)}, {},
      4e6, 4.7e6);
  s.AddError("invrms", {Normal({3, 5}), Normal({3, 5}, 2), none, Normal({5}, 4)}, {},
             "dy, weight, invrms do not fit x");
}

FIRN_REGISTER_GOLDEN(layer_norm) {
  const std::vector<int64_t> shape = args.Ints("normalized_shape");
  return LayerNorm(args["x"], Shape(absl::MakeConstSpan(shape)), args["weight"], args["bias"],
                   args.Number("eps", 1e-5));
}

FIRN_REGISTER_GOLDEN(rms_norm) {
  const std::vector<int64_t> shape = args.Ints("normalized_shape");
  return RmsNorm(args["x"], Shape(absl::MakeConstSpan(shape)), args["weight"],
                 args.Number("eps", 0));
}

}  // namespace
}  // namespace firn::testing

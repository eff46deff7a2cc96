#include "firn/tensor/ops/gradient/clip.h"
#include "firn/tensor/testing/samples.h"

// Clipped gradients are not derivatives of the functions: tests/tensor/clip_gradients_test.cc has
// them. The limits here are never reached and leave gradients unchanged.

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(clip_grad_by_value) {
  s.Function<ClipGradByValue>();
  s.WithoutVectors("PyTorch has hooks instead");
  s.Reference(
      [](absl::Span<const RefTensor> in, AttrsRef) { return std::vector<RefTensor>{in[0]}; });
  s.Add("numbers", {Normal({3, 5}), Values({-1}, {}), Values({1}, {})}).check_gradient = false;
  s.Add("each channel", {Normal({2, 8, 3}), Normal({8, 1}, 2), Normal({1}, 3)}).check_gradient =
      false;
  s.Add("wide", {Normal({3, 5}), Values({-1e4}, {}), Values({1e4}, {})}).constant_inputs = {1, 2};
  s.AddLarge("4M", {Normal({2048, 2048}), Values({-1}, {}), Values({1}, {})}, {}, 0, 33.6e6)
      .constant_inputs = {1, 2};
  s.AddError("min", {Normal({3}), Normal({2}), Normal({1})}, {},
             "min [2] does not broadcast to x [3]");
  s.AddError("ints", {Integers({3}, 0, 5), Integers({1}, 0, 5), Integers({1}, 0, 5)}, {},
             "x must be");
}

FIRN_REGISTER_SAMPLES(clip_grad_by_norm) {
  s.Function([](In in, const ClipGradByNormAttrs& a) { return ClipGradByNorm(in[0], a); });
  s.WithoutVectors("PyTorch has hooks instead");
  s.Reference([](double x) { return x; });
  s.Add("all", {Normal({3, 5})}, ClipGradByNormAttrs{}).check_gradient = false;
  s.Add("rows of channels", {Normal({2, 8, 3})}, ClipGradByNormAttrs{2, {1, -1}, true})
      .check_gradient = false;
  s.Add("nothing", {Normal({0, 3})}, ClipGradByNormAttrs{}).check_gradient = false;
  s.Add("a large norm", {Normal({3, 5})}, ClipGradByNormAttrs{1e4});
  s.AddLarge("4M", {Normal({2048, 2048})}, ClipGradByNormAttrs{}, 0, 33.6e6);
  s.AddError("norm", {Normal({3})}, ClipGradByNormAttrs{-1}, "norm must be 0 or more, got -1");
  s.AddError("dim", {Normal({3})}, ClipGradByNormAttrs{1, {1}}, "clip_grad_by_norm");
}

FIRN_REGISTER_SAMPLES(top_k_grad) {
  s.Function([](In in, const TopKGradAttrs& a) {
    return TopKGrad(in[0], a.k, {.abs = a.abs, .base_dim = a.base_dim});
  });
  s.WithoutVectors("PyTorch has hooks instead");
  s.Reference([](double x) { return x; });
  s.Add("each row", {Normal({3, 5})}, TopKGradAttrs{2}).check_gradient = false;
  s.Add("of all, by size", {Normal({2, 8, 3})}, TopKGradAttrs{7, true, 0}).check_gradient = false;
  s.Add("nothing", {Normal({0, 3})}, TopKGradAttrs{1}).check_gradient = false;
  s.Add("as many as there are", {Normal({3, 5})}, TopKGradAttrs{5});
  s.AddLarge("100 in 1024 rows", {Normal({1024, 1024})}, TopKGradAttrs{100}, 0, 8.4e6);
  s.AddError("k", {Normal({3, 5})}, TopKGradAttrs{6},
             "k must be between 0 and the 5 elements of a sample of x [3, 5], got 6");
  s.AddError("base_dim", {Normal({3, 5})}, TopKGradAttrs{1, false, 3},
             "base_dim 3 is no place among the 2 dimensions of x [3, 5]");
}

}  // namespace
}  // namespace firn::testing

#include "firn/tensor/ops/conv/channels.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(channel_affine) {
  s.Function<ChannelAffine>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor y(in[0].shape);
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      const double scale = in[1].defined() ? in[1][at[1]] : 1;
      const double shift = in[2].defined() ? in[2][at[1]] : 0;
      y.at(at) = in[0].at(at) * scale + shift;
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("matrix", {Normal({3, 5}), Normal({5}, 2), Normal({5}, 3)});
  s.Add("images", {Normal({2, 3, 4, 5}), Normal({3}, 2), Normal({3}, 3)});
  s.Add("scale only", {Normal({2, 3, 4}), Normal({3}, 2), Tensor()});
  s.Add("shift only, blocked channels", {Normal({2, 16, 3, 3}), Tensor(), Normal({16}, 3)});
  s.Add("longer than a strip", {Normal({2, 3, 300}), Normal({3}, 2), Normal({3}, 3)})
      .check_gradient = false;
  s.Add("blocks longer than a strip", {Normal({1, 16, 5, 7}), Normal({16}, 2), Normal({16}, 3)})
      .check_gradient = false;
  s.AddLarge("64x128x8x8", {Normal({64, 128, 8, 8}), Normal({128}, 2), Normal({128}, 3)}, {}, 1e6,
             4.2e6);
  s.AddError("scale", {Normal({2, 3}), Normal({2}), Tensor()}, {},
             "scale [2] does not fit the channels of x [2, 3]");
  s.AddError("rank", {Normal({3}), Normal({3}), Tensor()}, {}, "x must have 2 to 8 dimensions");
}

FIRN_REGISTER_SAMPLES(channel_sum) {
  s.Function<ChannelSum>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor sum(Shape({in[0].shape[1]}));
    ForEachIndex(in[0].shape, [&](absl::Span<const int64_t> at) { sum[at[1]] += in[0].at(at); });
    return std::vector<RefTensor>{sum};
  });
  s.Add("matrix", {Normal({3, 5})});
  s.Add("images", {Normal({2, 3, 4, 5})});
  s.Add("blocked channels", {Normal({2, 16, 5, 3})});
  s.Add("longer than a strip", {Uniform({2, 3, 300}, 0.1, 1)}).check_gradient = false;
  s.Add("blocks longer than a strip", {Uniform({1, 16, 5, 7}, 0.1, 1)}).check_gradient = false;
  s.AddLarge("64x128x8x8", {Normal({64, 128, 8, 8})}, {}, 5e5, 2.1e6);
  s.AddError("rank", {Normal({3})}, {}, "x must have 2 to 8 dimensions");
}

}  // namespace
}  // namespace firn::testing

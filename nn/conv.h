#ifndef FIRN_NN_CONV_H_
#define FIRN_NN_CONV_H_

#include <cstdint>
#include <string>

#include "firn/nn/conv_base.h"
#include "firn/tensor/ops/conv/conv.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/sizes.h"

namespace firn::nn {

struct ConvOptions {
  int64_t in = kDeferred;  // channels
  int64_t out = 0;
  Sizes kernel = 1;
  Sizes stride = 1;
  ConvPadding padding = 0;  // a number, one for each dimension, kSame or kValid
  Sizes dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  PadMode padding_mode = PadMode::kConstant;  // the contents of the padding; kConstant: zeros
  init::Initializer weight_init = {};         // empty: uniform within 1 / sqrt(fan_in)
  init::Initializer bias_init = {};           // empty: the same
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "out", out);
    v.Always("kernel", kernel);
    v.Field("stride", stride);
    v.SizesOr("padding", padding.size, "same", padding.same);
    v.Field("dilation", dilation);
    v.Field("groups", groups);
    v.Field("bias", bias);
    v.Field("padding_mode", padding_mode);
  }
};
using Conv1dOptions = ConvOptions;
using Conv2dOptions = ConvOptions;
using Conv3dOptions = ConvOptions;

// A convolution over sequences (kDims 1), images (2) or volumes (3); see tensor/ops/conv/conv.h for
// the formula.
// x: [n, in, size...] or [in, size...]
// y: [n, out, (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1, ...]
// Parameters: weight [out, in / groups, kernel...], bias [out].
template <int kDims>
class Conv final : public LayerWithOptions<ConvOptions, ConvBase> {
  using Base = LayerWithOptions<ConvOptions, ConvBase>;

 public:
  using Options = ConvOptions;
  // Throws when a size is not positive or not one for each dimension, or groups does not divide the
  // channels.
  explicit Conv(const Options& options);

  std::string type_name() const override;

 protected:
  Tensor Forward(const Tensor& x) override;
  void AddKnown(Options& options) const override { options.in = in(); }
};

using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;

extern template class Conv<1>;
extern template class Conv<2>;
extern template class Conv<3>;

struct ConvTransposeOptions {
  int64_t in = kDeferred;  // channels
  int64_t out = 0;
  Sizes kernel = 1;
  Sizes stride = 1;
  Sizes padding = 0;
  Sizes output_padding = 0;  // lines added at the far ends; fewer than the stride
  int64_t groups = 1;
  bool bias = true;
  Sizes dilation = 1;
  init::Initializer weight_init = {};  // empty: uniform within 1 / sqrt(fan_in)
  init::Initializer bias_init = {};    // empty: the same
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "out", out);
    v.Always("kernel", kernel);
    v.Field("stride", stride);
    v.Field("padding", padding);
    v.Field("output_padding", output_padding);
    v.Field("dilation", dilation);
    v.Field("groups", groups);
    v.Field("bias", bias);
  }
};
using ConvTranspose1dOptions = ConvTransposeOptions;
using ConvTranspose2dOptions = ConvTransposeOptions;
using ConvTranspose3dOptions = ConvTransposeOptions;

// A transposed convolution over sequences, images or volumes, which makes them larger; see
// tensor/ops/conv/conv_transpose.h.
// x: [n, in, size...] or [in, size...]
// y: [n, out, (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1, ...]
// Parameters: weight [in, out / groups, kernel...], bias [out].
template <int kDims>
class ConvTranspose final : public LayerWithOptions<ConvTransposeOptions, ConvBase> {
  using Base = LayerWithOptions<ConvTransposeOptions, ConvBase>;

 public:
  using Options = ConvTransposeOptions;
  // Throws when a size is not positive or not one for each dimension, or groups does not divide the
  // channels.
  explicit ConvTranspose(const Options& options);

  std::string type_name() const override;

 protected:
  Tensor Forward(const Tensor& x) override;
  void AddKnown(Options& options) const override { options.in = in(); }
};

using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;

extern template class ConvTranspose<1>;
extern template class ConvTranspose<2>;
extern template class ConvTranspose<3>;

}  // namespace firn::nn

#endif  // FIRN_NN_CONV_H_

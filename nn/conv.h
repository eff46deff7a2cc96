#ifndef FIRN_NN_CONV_H_
#define FIRN_NN_CONV_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nn/conv_base.h"
#include "tensor/ops/conv/conv.h"
#include "tensor/ops/shape/pad.h"

namespace firn::nn {

struct Conv2dOptions {
  int64_t in = kDeferred;  // channels
  int64_t out = 0;
  Size2 kernel = 1;
  Size2 stride = 1;
  ConvPadding padding = 0;  // a number, {h, w}, kSame or kValid
  Size2 dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  PadMode padding_mode = PadMode::kConstant;  // what stands in the padding; kConstant: zeros
  init::Initializer weight_init = {};         // empty: uniform within 1 / sqrt(fan_in)
  init::Initializer bias_init = {};           // empty: the same
};

// A convolution over images; see tensor/ops/conv/conv.h for the formula.
// x: [n, in, h, w]      y: [n, out, (h + 2 padding - dilation (kernel - 1) - 1) / stride + 1, ...]
// Parameters: weight [out, in / groups, kh, kw], bias [out].
class Conv2d final : public ConvBase {
 public:
  using Options = Conv2dOptions;
  // Throws when a size is not positive or groups does not divide the channels.
  explicit Conv2d(const Options& options);

  const Options& options() const { return options_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Options options_;
};

struct Conv1dOptions {
  int64_t in = kDeferred;  // channels
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  PadMode padding_mode = PadMode::kConstant;
  init::Initializer weight_init = {};  // empty: uniform within 1 / sqrt(fan_in)
  init::Initializer bias_init = {};    // empty: the same
};

// A convolution over sequences; see tensor/ops/conv/conv.h.
// x: [n, in, l]      y: [n, out, (l + 2 padding - dilation (kernel - 1) - 1) / stride + 1]
// Parameters: weight [out, in / groups, k], bias [out].
class Conv1d final : public ConvBase {
 public:
  using Options = Conv1dOptions;
  // Throws when a size is not positive or groups does not divide the channels.
  explicit Conv1d(const Options& options);

  const Options& options() const { return options_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Options options_;
};

struct ConvTranspose2dOptions {
  int64_t in = kDeferred;  // channels
  int64_t out = 0;
  Size2 kernel = 1;
  Size2 stride = 1;
  Size2 padding = 0;
  Size2 output_padding = 0;  // rows and columns added at the far ends; smaller than the stride
  int64_t groups = 1;
  bool bias = true;
  Size2 dilation = 1;
  init::Initializer weight_init = {};  // empty: uniform within 1 / sqrt(fan_in)
  init::Initializer bias_init = {};    // empty: the same
};

// A transposed convolution over images, which makes them larger; see
// tensor/ops/conv/conv_transpose.h.
// x: [n, in, h, w]
// y: [n, out, (h - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1, ...]
// Parameters: weight [in, out / groups, kh, kw], bias [out].
class ConvTranspose2d final : public ConvBase {
 public:
  using Options = ConvTranspose2dOptions;
  // Throws when a size is not positive or groups does not divide the channels.
  explicit ConvTranspose2d(const Options& options);

  const Options& options() const { return options_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Options options_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_CONV_H_

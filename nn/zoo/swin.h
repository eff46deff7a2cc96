#ifndef FIRN_NN_ZOO_SWIN_H_
#define FIRN_NN_ZOO_SWIN_H_

// Liu et al., "Swin transformer: hierarchical vision transformer using shifted windows", 2021.
// Names and shapes are torchvision's. Images lie as [n, h, w, channels] inside.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/norm.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct SwinUnitOptions {
  int64_t channels = 96, heads = 3;
  int64_t window = 7;  // tokens of its side
  int64_t shift = 0;   // of windows, right and down
  double drop = 0;     // the probability with which a branch is left out
};

// Attention within windows, which are moved by `shift`; places behind the image's ends are zeros. A
// window that covers a side is not moved along it. x, y: [n, h, w, channels] Children: qkv, proj.
// Parameter: relative_position_bias_table [(2 window - 1)^2, heads]; buffer:
// relative_position_index i64 [window^4].
class SwinAttention final : public nn::LayerWithOptions<SwinUnitOptions> {
 public:
  explicit SwinAttention(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  // windows: [n, windows, tokens, channels]
  Tensor Attend(const Tensor& windows, const Tensor& hidden);

  Tensor& table_;
  Tensor& index_;
  nn::Linear& qkv_;
  nn::Linear& proj_;
};

// x, y: [n, h, w, channels]
// Children: norm1, attn, stochastic_depth, norm2, mlp.0, mlp.3.
class SwinUnit final : public nn::LayerWithOptions<SwinUnitOptions> {
 public:
  explicit SwinUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::LayerNorm& norm1_;
  SwinAttention& attn_;
  nn::StochasticDepth& drop_;
  nn::LayerNorm& norm2_;
  nn::Sequential& mlp_;
};

// The four neighbours of a square become one token of twice as many channels.
// x: [n, h, w, channels]      y: [n, ceil(h / 2), ceil(w / 2), 2 channels]
// Children: reduction, norm.
class SwinMerging final : public nn::LayerWithOptions<SwinUnitOptions> {
 public:
  explicit SwinMerging(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Linear& reduction_;
  nn::LayerNorm& norm_;
};

struct SwinOptions {
  int64_t channels = 96;  // of the first stage; each next one has twice as many
  std::vector<int64_t> units = {2, 2, 6, 2};
  std::vector<int64_t> heads = {3, 6, 12, 24};
  int64_t window = 7;
  int64_t classes = 1000;
  double dropout = 0.2;  // the probability with which the last branches are left out; 0 at first
  template <class V>
  void Visit(V& v) {
    v.Always("channels", channels);
    v.Always("units", units);
    v.Always("heads", heads);
    v.Field("window", window);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: features.0 to features.7, norm, head.
class Swin final : public nn::LayerWithOptions<SwinOptions> {
 public:
  // Throws unless there are as many numbers of heads as stages, and each divides its channels.
  explicit Swin(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& features_;
  nn::LayerNorm& norm_;
  nn::Linear& head_;
};

// Options of "swin_t", "swin_s" or "swin_b". Throws for another name.
SwinOptions SwinOf(const std::string& name, const Options& options = {});

std::vector<Network> SwinNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_SWIN_H_

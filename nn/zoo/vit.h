#ifndef FIRN_NN_ZOO_VIT_H_
#define FIRN_NN_ZOO_VIT_H_

// Vision transformers (Dosovitskiy et al., "An image is worth 16x16 words: transformers for image
// recognition at scale", 2020), the small ones of Touvron et al., "Training data-efficient image
// transformers & distillation through attention", 2020. Names and shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/multi_head_attention.h"
#include "firn/nn/norm.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct VitOptions {
  int64_t image = 224;  // pixels of a side; patches fill it
  int64_t patch = 16;
  int64_t layers = 12, heads = 12;
  int64_t hidden = 768, mlp = 3072;  // features of a token; inside a layer's two products
  int64_t classes = 1000;
  double dropout = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("image", image);
    v.Always("patch", patch);
    v.Always("layers", layers);
    v.Always("heads", heads);
    v.Always("hidden", hidden);
    v.Always("mlp", mlp);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// Attention and two products, each of its normalised input, to which the result is added. x, y: [n,
// tokens, hidden] Children: ln_1, self_attention, dropout, ln_2, mlp.0, mlp.3.
class VitLayer final : public nn::LayerWithOptions<VitOptions> {
 public:
  explicit VitLayer(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::LayerNorm& ln_1_;
  nn::MultiHeadAttention& self_attention_;
  nn::Dropout& dropout_;
  nn::LayerNorm& ln_2_;
  nn::Sequential& mlp_;
};

// The layers for tokens behind the first product: learned places are added, and a norm comes last.
// x, y: [n, tokens, hidden] Children: dropout, layers.encoder_layer_0 ..., ln. Parameter:
// pos_embedding [1, tokens, hidden].
class VitEncoder final : public nn::LayerWithOptions<VitOptions> {
 public:
  explicit VitEncoder(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Tensor& pos_embedding_;
  nn::Dropout& dropout_;
  nn::Sequential& layers_;
  nn::LayerNorm& ln_;
};

// x: [n, 3, image, image]      y: [n, classes]
// Children: conv_proj, encoder, heads.head. Parameter: class_token [1, 1, hidden].
class Vit final : public nn::LayerWithOptions<VitOptions> {
 public:
  // Throws unless the patch divides the image and heads divide the hidden features.
  explicit Vit(const Options& options = {});

 protected:
  // Throws for images of another size, whose patches have no learned places.
  Tensor Forward(const Tensor& x) override;

 private:
  Tensor& class_token_;
  nn::Conv2d& conv_proj_;
  VitEncoder& encoder_;
  nn::Sequential& heads_;
};

// Options of "vit_b_16", "vit_b_32" or "vit_l_16" (torchvision's), "vit_ti_16" or "vit_s_16"
// (DeiT's sizes). Throws for another name.
VitOptions VitOf(const std::string& name, const Options& options = {});

std::vector<Network> VitNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_VIT_H_

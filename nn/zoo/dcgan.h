#ifndef FIRN_NN_ZOO_DCGAN_H_
#define FIRN_NN_ZOO_DCGAN_H_

// Radford et al., "Unsupervised representation learning with deep convolutional generative
// adversarial networks", 2015: images of 64x64 pixels.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct DcganGeneratorOptions {
  int64_t latent = 100;     // numbers that an image is made of
  int64_t channels = 1024;  // of the first layer, of 4x4; each next one has half as many
  int64_t out = 3;          // channels of the image
  template <class V>
  void Visit(V& v) {
    v.Field("latent", latent);
    v.Field("channels", channels);
    v.Field("out", out);
  }
};

// z: [n, latent]      y: [n, out, 64, 64], within -1 and 1
// Children: main.0 ..., five transposed convolutions with norms and relu between them.
class DcganGenerator final : public nn::LayerWithOptions<DcganGeneratorOptions> {
 public:
  // Throws unless 8 divides the channels.
  explicit DcganGenerator(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& z) override;

 private:
  nn::Sequential& main_;
};

struct DcganDiscriminatorOptions {
  int64_t in = 3;          // channels of the image
  int64_t channels = 128;  // of the first layer; each next one has twice as many
  template <class V>
  void Visit(V& v) {
    v.Field("in", in);
    v.Field("channels", channels);
  }
};

// x: [n, in, 64, 64]      y: [n], of which Sigmoid is the probability that an image is a real one
// (see BinaryCrossEntropyWithLogits)
// Children: main.0 ..., five convolutions with norms and leaky relu between them.
class DcganDiscriminator final : public nn::LayerWithOptions<DcganDiscriminatorOptions> {
 public:
  explicit DcganDiscriminator(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& main_;
};

std::vector<Network> DcganNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_DCGAN_H_

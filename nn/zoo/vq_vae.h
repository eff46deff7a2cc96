#ifndef FIRN_NN_ZOO_VQ_VAE_H_
#define FIRN_NN_ZOO_VQ_VAE_H_

// van den Oord et al., "Neural discrete representation learning", 2017: an autoencoder whose code
// is a picture of numbers, each of a vector in a codebook.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/embedding.h"
#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

// x + conv1x1(relu(conv3x3(relu(x)))).
// x: [n, channels, h, w]      y: as x
// Children: conv3x3, conv1x1.
struct VqVaeUnitOptions {
  int64_t channels = 256;
};
class VqVaeUnit final : public nn::LayerWithOptions<VqVaeUnitOptions> {
 public:
  explicit VqVaeUnit(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Layer &conv3x3_, &conv1x1_;
};

struct VqVaeOptions {
  int64_t channels = 3;  // of images
  int64_t hidden = 256;
  int64_t codes = 512, code_size = 64;  // vectors of the codebook, and numbers in each
  int64_t units = 2;                    // residual units on each side
  template <class V>
  void Visit(V& v) {
    v.Field("channels", channels);
    v.Field("hidden", hidden);
    v.Field("codes", codes);
    v.Field("code_size", code_size);
    v.Field("units", units);
  }
};

struct VqVaeResult {
  Tensor reconstruction;   // as the images
  Tensor codes;            // [n, h / 4, w / 4] i64
  Tensor codebook_loss;    // []: the distance of the vectors from the encoder's result
  Tensor commitment_loss;  // []: the same number, whose gradient goes to the encoder alone
};

// x: [n, channels, h, w], both sizes multiples of 4      y: as x, the reconstruction
// The decoder's gradient goes through the codebook as if it were not there, so the codebook learns
// by its own loss alone:
//
//   const zoo::VqVaeResult r = net.Reconstruct(images);
//   Tensor loss = MseLoss(r.reconstruction, images) + r.codebook_loss + 0.25 * r.commitment_loss;
//
// Children: encoder.0 ... (convolutions of 4x4 and stride 2, one of 3x3, units, one of 1x1 to
// code_size), codebook, decoder.0 ... (a convolution of 3x3, units, transposed convolutions of
// 4x4 and stride 2).
class VqVae final : public nn::LayerWithOptions<VqVaeOptions> {
 public:
  // Throws unless the sizes are positive.
  explicit VqVae(const Options& options = {});

  VqVaeResult Reconstruct(const Tensor& x);
  // The number of the nearest vector, by squared distance, at each place: [n, h / 4, w / 4] i64.
  Tensor Encode(const Tensor& x);
  // codes: [n, h, w] i64      y: [n, channels, 4 h, 4 w]
  Tensor Decode(const Tensor& codes);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  // The encoder's result, [n, h, w, code_size].
  Tensor Vectors(const Tensor& x);
  Tensor Nearest(const Tensor& vectors) const;
  Tensor Pictures(const Tensor& vectors);

  nn::Sequential& encoder_;
  nn::Embedding& codebook_;
  nn::Sequential& decoder_;
};

// Options of "vq_vae". Throws for another name.
VqVaeOptions VqVaeOf(const std::string& name, const Options& options = {});

std::vector<Network> VqVaeNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_VQ_VAE_H_

#ifndef FIRN_NN_ZOO_UNET_H_
#define FIRN_NN_ZOO_UNET_H_

// Ronneberger et al., "U-Net: convolutional networks for biomedical image segmentation", 2015, with
// padded convolutions, so that the result is as large as the image.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/module_list.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct UnetOptions {
  int64_t in = 1;           // channels of the image
  int64_t channels = 64;    // of the first level; each next one has twice as many
  int64_t levels = 5;       // number of image sizes, each half of the one before
  bool batch_norm = false;  // behind each convolution of 3x3, which then has no bias
  int64_t classes = 2;
  double dropout = 0.5;  // behind the lowest level
  template <class V>
  void Visit(V& v) {
    v.Field("in", in);
    v.Field("channels", channels);
    v.Field("levels", levels);
    v.Field("batch_norm", batch_norm);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, in, h, w] with sides that 2^(levels - 1) divides      y: [n, classes, h, w], scores of
// each pixel Children: down.0 ..., two convolutions of 3x3 with relu each; dropout; up.0 ...,
// transposed convolutions of 2x2 from the lowest level; merge.0 ..., two convolutions each; head.
class Unet final : public nn::LayerWithOptions<UnetOptions> {
 public:
  // Throws unless there are at least two levels.
  explicit Unet(const Options& options = {});

 protected:
  // Throws for sides that halving does not divide evenly.
  Tensor Forward(const Tensor& x) override;

 private:
  nn::ModuleList<nn::Sequential>& down_;
  nn::Dropout& dropout_;
  nn::ModuleList<nn::ConvTranspose2d>& up_;
  nn::ModuleList<nn::Sequential>& merge_;
  nn::Conv2d& head_;
};

// Options of "unet". Throws for another name.
UnetOptions UnetOf(const std::string& name, const Options& options = {});

std::vector<Network> UnetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_UNET_H_

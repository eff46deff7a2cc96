#ifndef FIRN_NN_ZOO_DEEPLAB_H_
#define FIRN_NN_ZOO_DEEPLAB_H_

// DeepLab v3+ (Chen et al., "Encoder-decoder with atrous separable convolution for semantic image
// segmentation", 2018) on a ResNet or, as the authors' and NNabla's, on Xception-65. Names of the
// ResNet and of the pyramid are those of torchvision's DeepLab v3.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/module_list.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"
#include "firn/nn/zoo/resnet.h"
#include "firn/nn/zoo/xception65.h"

namespace firn::zoo {

struct AtrousPyramidOptions {
  int64_t in = 2048, out = 256;  // channels
  std::vector<int64_t> rates = {6, 12, 18};
  bool separable = false;  // the 3x3 ones are NormedSeparable
  double dropout = 0.5;
};

// A 1x1 convolution, one of 3x3 for each rate, which is its dilation, and the mean of the image,
// side by side. x: [n, in, h, w]      y: [n, out, h, w] Children: convs.0 ..., project.
class AtrousPyramid final : public nn::LayerWithOptions<AtrousPyramidOptions> {
 public:
  explicit AtrousPyramid(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::ModuleList<nn::Sequential>& convs_;
  nn::Sequential& project_;
};

struct DeeplabOptions {
  bool xception = false;  // the backbone is Xception-65, and convolutions of 3x3 are separable
  std::vector<int64_t> units = {3, 4, 6, 3};  // of the ResNet, whose units are bottlenecks
  int64_t middle = 16;                        // Xception65Options::middle
  int64_t output_stride = 16;                 // pixels of the image for one of the pyramid's input
  int64_t classes = 21;
  double dropout = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Field("xception", xception);
    v.Always("units", units);
    v.Field("middle", middle);
    v.Field("output_stride", output_stride);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// The pyramid's result, made four times as large, is joined to that of an early stage, which has
// that size and is narrowed to 48 channels. x: [n, 3, h, w]      y: [n, classes, h, w], scores of
// each pixel Children: backbone, aspp, low, classifier.
class Deeplab final : public nn::LayerWithOptions<DeeplabOptions> {
 public:
  // Throws unless the output stride is 8, 16 or 32.
  explicit Deeplab(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Resnet* resnet_ = nullptr;  // one of both is the backbone
  Xception65* xception_ = nullptr;
  AtrousPyramid& aspp_;
  nn::Sequential& low_;
  nn::Sequential& classifier_;
};

// Options of "deeplab_v3_plus_resnet50" and "deeplab_v3_plus_xception65". Throws for another name.
DeeplabOptions DeeplabOf(const std::string& name, const Options& options = {});

std::vector<Network> DeeplabNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_DEEPLAB_H_

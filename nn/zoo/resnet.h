#ifndef FIRN_NN_ZOO_RESNET_H_
#define FIRN_NN_ZOO_RESNET_H_

// Residual networks: ResNet (He et al., "Deep residual learning for image recognition", 2015),
// ResNeXt (Xie et al., "Aggregated residual transformations for deep neural networks", 2016) and
// Wide ResNet (Zagoruyko and Komodakis, "Wide residual networks", 2016). Names and shapes are
// torchvision's.

#include <array>
#include <string>
#include <vector>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"
#include "firn/nn/zoo/option_rows.h"

namespace firn::zoo {

struct ResnetUnitOptions {
  int64_t in = 64, width = 64;  // channels of the input; of a first convolution of one group
  int64_t stride = 1;           // of the convolution of 3x3 that may have one
  bool bottleneck = false;      // 1x1, 3x3 and 1x1 to four times as many channels, not twice 3x3
  int64_t groups = 1, group_width = 64;  // of a bottleneck's 3x3: width * group_width / 64 channels
  int64_t dilation = 1;                  // of a bottleneck's 3x3
  int64_t out() const { return bottleneck ? 4 * width : width; }
};

// y = relu(branch(x) + shortcut(x)); the shortcut is the identity where the shape is kept, else
// `downsample`, a 1x1 convolution and a norm.
// x: [n, in, h, w]      y: [n, out, ceil(h / stride), ceil(w / stride)]
// Children: conv1, bn1, conv2, bn2 and of a bottleneck conv3, bn3; downsample.0, downsample.1.
class ResnetUnit final : public nn::LayerWithOptions<ResnetUnitOptions> {
 public:
  explicit ResnetUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  void AddConv(int index, const nn::ConvOptions& conv, bool last);

  std::vector<nn::Conv2d*> convs_;
  std::vector<nn::BatchNorm2d*> norms_;
  nn::Sequential* downsample_ = nullptr;  // null where the shortcut is the identity
};

struct ResnetOptions {
  std::vector<int64_t> units = {2, 2, 2, 2};  // of 64, 128, 256 and 512 channels
  bool bottleneck = false;
  int64_t groups = 1, group_width = 64;  // see ResnetUnitOptions
  int64_t channels = 3, classes = 1000;  // without classes there is no last layer
  // For each of the last stages, whether its stride becomes a dilation, which keeps results larger
  // (torchvision's replace_stride_with_dilation). Only with bottlenecks.
  std::array<bool, 3> dilated = {false, false, false};
  // The stem for images of 32x32 pixels: 3x3 of stride 1 and no pooling, not 7x7 of stride 2.
  bool small_images = false;
  template <class V>
  void Visit(V& v) {
    v.Always("units", units);
    v.Field("bottleneck", bottleneck);
    v.Field("groups", groups);
    v.Field("group_width", group_width);
    v.Field("channels", channels);
    v.Field("classes", classes);
    VisitFlags(v, "dilated", dilated);
    v.Field("small_images", small_images);
  }
};

// x: [n, channels, h, w]      y: [n, classes], without classes the means that fc would see
// Children: conv1, bn1, layer1.0 ... layer4.n, with classes fc.
class Resnet final : public nn::LayerWithOptions<ResnetOptions> {
 public:
  // Throws unless `units` are four positive numbers, and where units without a bottleneck are to be
  // dilated.
  explicit Resnet(const Options& options = {});

  // The results of the four stages: 1/4, 1/8, 1/16 and 1/32 of the image's size, if nothing is
  // dilated.
  std::array<Tensor, 4> Stages(const Tensor& x);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  std::array<nn::ModuleList<ResnetUnit>*, 4> AddLayers(const Options& options);

  nn::Conv2d& conv1_;
  nn::BatchNorm2d& bn1_;
  std::array<nn::ModuleList<ResnetUnit>*, 4> layers_;
  nn::Linear* fc_ = nullptr;  // null without classes
};

// Options of "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d",
// "resnext101_32x8d", "resnext101_64x4d", "wide_resnet50_2" or "wide_resnet101_2". Throws for
// another name.
ResnetOptions ResnetOf(const std::string& name, const Options& options = {});

std::vector<Network> ResnetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_RESNET_H_

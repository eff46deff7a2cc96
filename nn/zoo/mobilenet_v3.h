#ifndef FIRN_NN_ZOO_MOBILENET_V3_H_
#define FIRN_NN_ZOO_MOBILENET_V3_H_

// Howard et al., "Searching for MobileNetV3", 2019. Names and shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct MobilenetV3Options {
  bool small = false;  // 11 units for slow processors, not 15
  double width = 1;    // times the channels of every layer, rounded to multiples of 8
  int64_t classes = 1000;
  double dropout = 0.2;
  template <class V>
  void Visit(V& v) {
    v.Field("small", small);
    v.Field("width", width);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: features.0 ... (see zoo/inverted_residual.h), classifier.0, classifier.3.
class MobilenetV3 final : public nn::LayerWithOptions<MobilenetV3Options> {
 public:
  // Throws unless the width is positive.
  explicit MobilenetV3(const Options& options = {});

  // The result of `features`: 1/32 of the image's size.
  Tensor Features(const Tensor& x) { return features_(x); }

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& features_;
  nn::Sequential& classifier_;
};

// Options of "mobilenet_v3_large" or "mobilenet_v3_small". Throws for another name.
MobilenetV3Options MobilenetV3Of(const std::string& name, const Options& options = {});

std::vector<Network> MobilenetV3Networks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_MOBILENET_V3_H_

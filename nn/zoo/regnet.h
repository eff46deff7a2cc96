#ifndef FIRN_NN_ZOO_REGNET_H_
#define FIRN_NN_ZOO_REGNET_H_

// Radosavovic et al., "Designing network design spaces", 2020. Names and shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/conv_norm.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct RegnetUnitOptions {
  int64_t in = 32, out = 32;  // channels
  int64_t stride = 1;
  int64_t groups = 1;    // of the convolution of 3x3
  int64_t squeezed = 0;  // channels inside of the squeeze-and-excitation; 0: there is none
};

// y = relu(f(x) + shortcut(x)); the shortcut is the identity where the shape is kept, else `proj`.
// x: [n, in, h, w]      y: [n, out, ceil(h / stride), ceil(w / stride)]
// Children: proj.0, proj.1, f.a.0 ..., f.b.0 ..., f.se.fc1, f.se.fc2, f.c.0, ....
class RegnetUnit final : public nn::LayerWithOptions<RegnetUnitOptions> {
 public:
  explicit RegnetUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  ConvNorm* proj_ = nullptr;  // null where the shortcut is the identity
  nn::Sequential& f_;
};

struct RegnetOptions {
  std::vector<int64_t> units = {1, 2, 7, 12};        // of each stage
  std::vector<int64_t> widths = {32, 64, 160, 400};  // channels of each stage
  int64_t group_width = 16;  // channels of each group; all channels if there are fewer
  bool squeezes = false;     // Y: units have squeeze-and-excitation, to a quarter of their input
  int64_t classes = 1000;
  template <class V>
  void Visit(V& v) {
    v.Always("units", units);
    v.Always("widths", widths);
    v.Field("group_width", group_width);
    v.Field("squeezes", squeezes);
    v.Field("classes", classes);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: stem.0, stem.1, trunk_output.block1.block1-0 ..., fc.
class Regnet final : public nn::LayerWithOptions<RegnetOptions> {
 public:
  // Throws unless `units` and `widths` are equally many positive numbers, and `group_width` is one
  // that divides the widths above it.
  explicit Regnet(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  ConvNorm& stem_;
  nn::Sequential& trunk_output_;
  nn::Linear& fc_;
};

// Options of "regnet_x_400mf", "regnet_x_800mf", "regnet_x_1_6gf", "regnet_x_3_2gf",
// "regnet_x_8gf", "regnet_x_16gf", and with y for x. Throws for another name.
RegnetOptions RegnetOf(const std::string& name, const Options& options = {});

std::vector<Network> RegnetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_REGNET_H_

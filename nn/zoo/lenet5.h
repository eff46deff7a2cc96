#ifndef FIRN_NN_ZOO_LENET5_H_
#define FIRN_NN_ZOO_LENET5_H_

// LeNet-5 (LeCun et al., "Gradient-based learning applied to document recognition", 1998), as it is
// built since: every map of the second convolution sees all of the first's, poolings have no
// weights, and the last layer is a product.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct Lenet5Options {
  int64_t in = 1;  // channels
  int64_t classes = 10;
  template <class V>
  void Visit(V& v) {
    v.Field("in", in);
    v.Field("classes", classes);
  }
};

// x: [n, in, 28, 28]      y: [n, classes]
// Children: conv1, conv2, fc1, fc2, fc3.
class Lenet5 final : public nn::LayerWithOptions<Lenet5Options> {
 public:
  explicit Lenet5(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d &conv1_, &conv2_;
  nn::Linear &fc1_, &fc2_, &fc3_;
};

// Options of "lenet5". Throws for another name.
Lenet5Options Lenet5Of(const std::string& name, const Options& options = {});

std::vector<Network> Lenet5Networks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_LENET5_H_

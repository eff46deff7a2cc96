#ifndef FIRN_NN_ZOO_GOOGLENET_H_
#define FIRN_NN_ZOO_GOOGLENET_H_

// Szegedy et al., "Going deeper with convolutions", 2014, with batch norms and a 3x3 convolution
// where the paper has one of 5x5, like torchvision's. Names and shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/inception_parts.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct GooglenetUnitOptions {
  int64_t in = 192;
  // Channels of the four branches; `squeezed` are those between the convolutions of two branches.
  int64_t branch1 = 64, squeezed2 = 96, branch2 = 128, squeezed3 = 16, branch3 = 32, branch4 = 32;
  int64_t out() const { return branch1 + branch2 + branch3 + branch4; }
};

// Four branches, one behind the other: a 1x1 convolution; twice a 1x1 and a 3x3; the largest of 3x3
// pixels and a 1x1.
// x: [n, in, h, w]      y: [n, out, h, w]
// Children: branch1, branch2.0, branch2.1, branch3.0, branch3.1, branch4.1, each a BasicConv.
class GooglenetUnit final : public nn::LayerWithOptions<GooglenetUnitOptions> {
 public:
  explicit GooglenetUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  BasicConv& branch1_;
  nn::Sequential& branch2_;
  nn::Sequential& branch3_;
  nn::Sequential& branch4_;
};

struct GooglenetClassifierOptions {
  int64_t in = 512;  // channels
  int64_t classes = 1000;
  double dropout = 0.7;
};

// x: [n, in, h, w]      y: [n, classes]
// Children: conv, fc1, fc2.
class GooglenetClassifier final : public nn::LayerWithOptions<GooglenetClassifierOptions> {
 public:
  explicit GooglenetClassifier(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  BasicConv& conv_;
  nn::Linear& fc1_;
  nn::Linear& fc2_;
};

struct GooglenetOptions {
  int64_t classes = 1000;
  double dropout = 0.2;
  double auxiliary_dropout = 0.7;  // of the auxiliary classifiers
  bool auxiliary = true;           // whether there are two auxiliary classifiers
  // Whether images have ImageNet's colours, as the weight files of torchvision expect, and not ones
  // of mean and deviation 0.5.
  bool transform_input = true;
  template <class V>
  void Visit(V& v) {
    v.Field("classes", classes);
    v.Field("dropout", dropout);
    v.Field("auxiliary_dropout", auxiliary_dropout);
    v.Field("auxiliary", auxiliary);
    v.Field("transform_input", transform_input);
  }
};

// [n, classes] each. Training adds the losses of the auxiliary ones, times 0.3 in the paper.
struct GooglenetScores {
  Tensor main, aux1, aux2;
};

// x: [n, 3, h, w] with h, w >= 15      y: [n, classes]
// Children: conv1, conv2, conv3, inception3a ... inception5b, aux1, aux2, fc.
class Googlenet final : public nn::LayerWithOptions<GooglenetOptions> {
 public:
  explicit Googlenet(const Options& options = {});

  // The scores of all three classifiers, for training. Throws without auxiliary ones. Hooks of the
  // network do not see this call.
  GooglenetScores WithAuxiliary(const Tensor& x);

 protected:
  Tensor Forward(const Tensor& x) override { return Scores(x, false).main; }

 private:
  std::vector<GooglenetUnit*> AddUnits();
  GooglenetClassifier* AddAuxiliary(const char* name, int64_t channels);
  GooglenetScores Scores(const Tensor& x, bool auxiliary);

  const HalfColours half_colours_;
  BasicConv &conv1_, &conv2_, &conv3_;
  std::vector<GooglenetUnit*> units_;  // 3a to 5b
  GooglenetClassifier *aux1_, *aux2_;  // null without
  nn::Linear& fc_;
};

// Options of "googlenet". Throws for another name.
GooglenetOptions GooglenetOf(const std::string& name, const Options& options = {});

std::vector<Network> GooglenetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_GOOGLENET_H_

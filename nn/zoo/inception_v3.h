#ifndef FIRN_NN_ZOO_INCEPTION_V3_H_
#define FIRN_NN_ZOO_INCEPTION_V3_H_

// Szegedy et al., "Rethinking the Inception architecture for computer vision", 2015. Names and
// shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/zoo/inception_parts.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct InceptionConv {
  const char* name;
  int64_t out;  // channels
  Sizes kernel = 1;
  bool halves = false;  // stride 2 without padding, else the size is kept
};

enum class InceptionPool : uint8_t { kNone, kMean, kMax };

// The steps of a unit's branch, in order.
struct InceptionBranch {
  std::vector<InceptionConv> convs = {};  // one behind the other
  std::vector<InceptionConv> fork = {};   // side by side; their results one behind the other
  // Before them: the mean of 3x3 pixels, or the largest of 3x3 pixels with stride 2.
  InceptionPool pool = InceptionPool::kNone;
};

struct InceptionUnitOptions {
  int64_t in = 192;  // channels
  std::vector<InceptionBranch> branches = {};
  // Channels of all branches.
  int64_t out() const;
};

// The results of the branches, one behind the other.
// x: [n, in, h, w]      y: [n, out, h, w], or half as high and wide
// Children: a BasicConv of its name for every convolution.
class InceptionUnit final : public nn::LayerWithOptions<InceptionUnitOptions> {
 public:
  explicit InceptionUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  BasicConv& AddConv(const InceptionConv& conv, int64_t in);

  // The convolutions of each branch: those of `convs`, then those of `fork`.
  std::vector<std::vector<BasicConv*>> convs_;
};

struct InceptionClassifierOptions {
  int64_t in = 768;  // channels
  int64_t classes = 1000;
};

// x: [n, in, h, w] with h, w >= 17      y: [n, classes]
// Children: conv0, conv1, fc.
class InceptionClassifier final : public nn::LayerWithOptions<InceptionClassifierOptions> {
 public:
  explicit InceptionClassifier(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  BasicConv &conv0_, &conv1_;
  nn::Linear& fc_;
};

struct InceptionV3Options {
  int64_t classes = 1000;
  double dropout = 0.5;
  bool auxiliary = true;  // whether there is an auxiliary classifier
  // Whether images have ImageNet's colours, as the weight files of torchvision expect, and not ones
  // of mean and deviation 0.5.
  bool transform_input = true;
  template <class V>
  void Visit(V& v) {
    v.Field("classes", classes);
    v.Field("dropout", dropout);
    v.Field("auxiliary", auxiliary);
    v.Field("transform_input", transform_input);
  }
};

// [n, classes] each. Training adds the loss of the auxiliary one, times 0.4 in torchvision's.
struct InceptionV3Scores {
  Tensor main, aux;
};

// x: [n, 3, h, w] with h, w >= 75, published for 299      y: [n, classes]
// Children: Conv2d_1a_3x3 ... Conv2d_4a_3x3, Mixed_5b ... Mixed_7c, AuxLogits, fc.
class InceptionV3 final : public nn::LayerWithOptions<InceptionV3Options> {
 public:
  explicit InceptionV3(const Options& options = {});

  // The scores of both classifiers, for training. Throws without an auxiliary one, and for images
  // of less than 283 pixels. Hooks of the network do not see this call.
  InceptionV3Scores WithAuxiliary(const Tensor& x);

 protected:
  Tensor Forward(const Tensor& x) override { return Scores(x, false).main; }

 private:
  std::vector<BasicConv*> AddStem();
  std::vector<InceptionUnit*> AddUnits(size_t from, size_t to);
  InceptionV3Scores Scores(const Tensor& x, bool auxiliary);

  const HalfColours half_colours_;
  std::vector<BasicConv*> stem_;
  std::vector<InceptionUnit*> before_;  // the auxiliary classifier
  InceptionClassifier* aux_;            // null without
  std::vector<InceptionUnit*> behind_;
  nn::Linear& fc_;
};

// Options of "inception_v3". Throws for another name.
InceptionV3Options InceptionV3Of(const std::string& name, const Options& options = {});

std::vector<Network> InceptionV3Networks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_INCEPTION_V3_H_

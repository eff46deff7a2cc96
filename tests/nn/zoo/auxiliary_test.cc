// The auxiliary classifiers of GoogLeNet and Inception v3 against PyTorch's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "benchmarks/hash_values.h"
#include "firn/nn/zoo/googlenet.h"
#include "firn/nn/zoo/inception_v3.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/nn/zoo/reference.h"

namespace firn::zoo {
namespace {

void ExpectIs(const Tensor& scores, const std::string& part, const testing::ZooReference& of) {
  const testing::ZooReference::Other& want = of.others.at(part);
  ASSERT_FALSE(want.values.empty()) << part;
  EXPECT_NEAR(Amax(Abs(scores)).Item(), want.largest, 1e-5 * want.largest) << part;
  const std::vector<double> got = testing::Spread(scores, want.values.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], want.values[i], 1e-5 * want.largest) << part << " " << i;
  }
}

Tensor ImagesOf(const Shape& shape) { return benchmarks::HashValues(shape, 1000, 2); }

TEST(AuxiliaryClassifiers, OfGooglenetGiveWhatPyTorchsGive) {
  const testing::ZooReference want = testing::ReadZooReference("googlenet");
  Googlenet net;
  testing::FillByNames(net);
  net.Eval();
  const NoGradScope no_grad;
  const GooglenetScores scores = net.WithAuxiliary(ImagesOf({2, 3, 96, 96}));
  ExpectIs(scores.main, "main", want);
  ExpectIs(scores.aux1, "aux1", want);
  ExpectIs(scores.aux2, "aux2", want);
}

TEST(AuxiliaryClassifiers, OfInceptionV3GiveWhatPyTorchsGive) {
  const testing::ZooReference want = testing::ReadZooReference("inception_v3");
  InceptionV3 net;
  testing::FillByNames(net);
  net.Eval();
  const NoGradScope no_grad;
  const InceptionV3Scores scores = net.WithAuxiliary(ImagesOf({1, 3, 299, 299}));
  ExpectIs(scores.main, "main", want);
  ExpectIs(scores.aux, "aux", want);
}

// The published count of GoogLeNet's parameters is without its auxiliary classifiers, that of
// Inception v3 with its one.
TEST(AuxiliaryClassifiers, CountAmongTheParameters) {
  EXPECT_EQ(Googlenet().num_parameters(), 13'004'888);
  EXPECT_EQ(Googlenet({.auxiliary = false}).num_parameters(), 6'624'904);
  EXPECT_EQ(InceptionV3().num_parameters(), 27'161'264);
}

TEST(AuxiliaryClassifiers, TakePartInTraining) {
  Googlenet net({.classes = 3});
  const GooglenetScores scores = net.WithAuxiliary(ImagesOf({2, 3, 32, 32}));
  (Sum(scores.main) + Sum(scores.aux1) + Sum(scores.aux2)).Backward();
  for (const auto& [name, parameter] : net.named_parameters()) {
    EXPECT_TRUE(parameter.grad().defined()) << name;
  }
}

TEST(AuxiliaryClassifiers, MayBeLeftOut) {
  Googlenet google({.auxiliary = false});
  EXPECT_EQ(google.num_parameters(), 6'624'904);  // as torchvision counts
  EXPECT_EQ(google.FindChild("aux1"), nullptr);
  EXPECT_THROW(google.WithAuxiliary(ImagesOf({1, 3, 32, 32})), Error);
  InceptionV3 inception({.auxiliary = false});
  EXPECT_EQ(inception.num_parameters(), 23'834'568);
  EXPECT_THROW(inception.WithAuxiliary(ImagesOf({1, 3, 75, 75})), Error);
}

// Colours normalised for ImageNet are converted to those that the first weights have seen.
TEST(AuxiliaryClassifiers, NetworksTakeEitherColours) {
  Googlenet expects_imagenet({.auxiliary = false});
  Googlenet expects_halves({.auxiliary = false, .transform_input = false});
  testing::FillByNames(expects_imagenet);
  testing::FillByNames(expects_halves);
  expects_imagenet.Eval();
  expects_halves.Eval();
  const NoGradScope no_grad;
  const Tensor x = ImagesOf({1, 3, 64, 64});
  const Tensor y = expects_imagenet(x), same = expects_halves(HalfColours()(x));
  EXPECT_EQ(y.ToVector<float>(), same.ToVector<float>());
  EXPECT_NE(y.ToVector<float>(), expects_halves(x).ToVector<float>());
}

}  // namespace
}  // namespace firn::zoo

// What the golden cases of instance and synchronised batch normalisation do not test.

#include "firn/nn/instance_norm.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/clone.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/random/draws.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

std::set<std::string> NamesOf(const Module& module) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : module.state_dict()) names.insert(name);
  return names;
}

TEST(InstanceNormTest, HasWhatItsOptionsAskFor) {
  EXPECT_TRUE(NamesOf(InstanceNorm1d({.channels = 2})).empty());
  EXPECT_EQ(NamesOf(InstanceNorm2d({.channels = 2, .affine = true})),
            (std::set<std::string>{"bias", "weight"}));
  EXPECT_EQ(NamesOf(InstanceNorm3d({.channels = 2, .track_running_stats = true})),
            (std::set<std::string>{"num_batches_tracked", "running_mean", "running_var"}));
  EXPECT_EQ(InstanceNorm2d({.affine = true}).ToString(), "InstanceNorm2d(?, affine=true)");
}

TEST(InstanceNormTest, AnyNumberOfChannelsDoesWithoutParameters) {
  InstanceNorm1d norm;
  EXPECT_EQ(norm(Randn({2, 3, 4})).shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(norm(Randn({5, 4})).shape(), (Shape{5, 4}));
}

TEST(InstanceNormTest, TellsWhatDoesNotFit) {
  EXPECT_EQ(ErrorOf([] { InstanceNorm2d({.channels = -1}); }),
            "nn::InstanceNorm: channels is -1 (want a positive number, or 0 to take it from the "
            "first input)");
  EXPECT_EQ(ErrorOf([] {
              InstanceNorm2d()(Ones({2, 3}));
            }),
            "nn::InstanceNorm2d at instance_norm2d: x [2, 3] has no dimension -3");
  EXPECT_EQ(ErrorOf([] {
              InstanceNorm1d()(Ones({2, 3, 4, 5}));
            }),
            "nn::InstanceNorm1d at instance_norm1d: wants 2 or 3 dimensions, x is [2, 3, 4, 5]");
}

// An error leaves the statistics alone, and so does a batch of nothing.
TEST(InstanceNormTest, StatisticsMoveWithWhatWasNormalisedAlone) {
  InstanceNorm1d norm({.channels = 2, .track_running_stats = true});
  EXPECT_NE(ErrorOf([&] { norm(Ones({3, 2, 1})); }), "");  // one value per channel
  norm(Ones({0, 2, 4}));
  EXPECT_TRUE(norm.running_mean().Equals(Zeros({2})));
  EXPECT_TRUE(norm.running_var().Equals(Ones({2})));
  norm(Full({3, 2, 4}, 2.0));
  EXPECT_FLOAT_EQ(norm.running_mean().ToVector<float>()[0], 0.2f);
  EXPECT_FLOAT_EQ(norm.running_var().ToVector<float>()[0], 0.9f);
}

TEST(InstanceNormTest, FrozenCallsMoveTheStatistics) {
  InstanceNorm1d norm({.channels = 2, .affine = true, .track_running_stats = true});
  const Tensor x = Randn({3, 2, 4});
  const auto same = Clone(norm);
  StaticGraph frozen = Freeze([&](const Tensor& in) { return norm(in); }, x);
  norm.LoadStateDict(same->state_dict());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(frozen(x).Equals((*same)(x)));
  EXPECT_TRUE(norm.running_mean().Equals(same->running_mean()));
  EXPECT_TRUE(norm.running_var().Equals(same->running_var()));
}

TEST(InstanceNormTest, HalfNumbersAreAveragedInTheStatisticsType) {
  InstanceNorm1d norm({.channels = 1, .track_running_stats = true});
  norm(Full({1, 1, 4}, 1.00390625).To(DType::kBF16));  // 1 + 2^-8, which is 1 in bf16
  EXPECT_EQ(norm.running_mean().dtype(), DType::kF32);
  EXPECT_FLOAT_EQ(norm.running_mean().Item<float>(), 0.1f);
}

TEST(SyncBatchNormTest, OneProcessHasBatchNormOfAnyRank) {
  for (const Shape& shape : {Shape{4, 3}, Shape{4, 3, 2}, Shape{2, 3, 2, 2, 2}}) {
    SyncBatchNorm sync;
    BatchNorm1d plain;
    const Tensor x = Randn(shape);
    const Tensor y = sync(x);
    EXPECT_TRUE(y.Reshape({-1}).Equals(plain(x.Reshape({shape[0], 3, -1})).Reshape({-1}))) << shape;
    EXPECT_TRUE(sync.running_var().Equals(plain.running_var()));
    EXPECT_EQ(sync.state_dict()["num_batches_tracked"].Item<int64_t>(), 1);
    EXPECT_EQ(sync.ToString(), "SyncBatchNorm(3)");
    EXPECT_TRUE(y.Equals(firn::SyncBatchNorm(x, {}, {})));  // the batch's own statistics
  }
}

}  // namespace
}  // namespace firn::nn

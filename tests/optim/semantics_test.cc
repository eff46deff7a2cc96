// Formulas that differ between PyTorch and NNabla, and values that depend on the first rate.

#include "firn/optim/semantics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "firn/device/inner.h"
#include "firn/optim/adam.h"
#include "firn/optim/adam_family.h"
#include "firn/optim/muon.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/pending.h"
#include "tests/error_of.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;

Tensor Param(std::vector<float> values) { return FromVector(std::move(values)).SetRequiresGrad(); }

// w -= alpha_t m / (sqrt(v) + eps) and, for AdamW, (alpha / alpha0) wd w: NNabla's solvers.
TEST(SemanticsTest, FollowsNNablaWhereItDiffers) {
  Tensor w = FromVector(std::vector<double>{2}).SetRequiresGrad();
  AdamW adam({w}, {.lr = 0.1,
                   .beta1 = 0.5,
                   .beta2 = 0.75,
                   .eps = 0.25,
                   .weight_decay = 0.5,
                   .semantics = Semantics::kNNabla});
  adam.SetLr(0.05);
  w.SetGrad(Full({1}, 3.0, DType::kF64));
  adam.Step();
  const double m = 0.5 * 3, v = 0.25 * 9, rate = 0.05 * std::sqrt(1 - 0.75) / (1 - 0.5);
  EXPECT_NEAR(w.ToVector<double>()[0], 2 - rate * m / (std::sqrt(v) + 0.25) - 0.5 * 0.5 * 2, 1e-12);

  w = FromVector(std::vector<double>{2}).SetRequiresGrad();
  SgdW sgd({w}, {.lr = 0.5, .momentum = 0.5, .weight_decay = 0.25});
  for (double lr : {0.5, 0.25}) {
    sgd.SetLr(lr);
    w.SetGrad(Full({1}, 1.0, DType::kF64));
    sgd.Step();
  }
  const double first = 2 - 0.5 - 0.25 * 2;
  EXPECT_NEAR(w.ToVector<double>()[0], first - (0.25 + 0.25) - 0.5 * 0.25 * first, 1e-12);
}

// The bounds' rate is scaled by the group's first rate, also after a load.
TEST(SemanticsTest, BoundsBelongToTheFirstRate) {
  Tensor a = Param({1}), b = Param({1});
  Adabound whole({{"a", a}}, {.lr = 0.5, .final_lr = 0.125, .gamma = 1e9});
  whole.SetLr(0.25);
  Adabound resumed({{"a", b}}, {.lr = 8});
  resumed.LoadStateDict(whole.state_dict());
  for (Tensor* p : {&a, &b}) p->SetGrad(Ones({1}));
  whole.Step();
  resumed.Step();
  // The moving average is 0.1 after a step, the rate 0.125 * 0.25 / 0.5.
  EXPECT_NEAR(a.ToVector<float>()[0], 1 - 0.0625 * 0.1, 1e-6);
  EXPECT_TRUE(a.Equals(b));
}

TEST(MuonTest, RefusesVectors) {
  Tensor matrix = Ones({2, 2}).SetRequiresGrad(), vector = Param({1, 2});
  Muon muon({{"matrix", matrix}});
  EXPECT_EQ(ErrorOf([&] {
              muon.AddGroup({{"vector", vector}}, {});
            }),
            "Muon: parameter vector is [2]; only matrices can be moved");
  EXPECT_EQ(muon.num_groups(), 1u);
  EXPECT_NE(ErrorOf([&] { Muon({matrix}, {.ns_steps = 100}); }), "");

  // A parameter whose shape was not known then: a step moves all parameters or none.
  Tensor later = MakePending(DType::kF32, Device());
  muon.AddGroup({{"later", later}}, {});
  Materialize(later, Ones({2}));
  later.SetRequiresGrad();
  for (Tensor* p : {&matrix, &later}) p->SetGrad(OnesLike(*p));
  EXPECT_EQ(ErrorOf([&] { muon.Step(); }),
            "Muon: parameter later is [2]; only matrices can be moved");
  EXPECT_TRUE(matrix.Equals(Ones({2, 2})));
}

// State dicts hold numbers alone.
TEST(SemanticsTest, StatesThatNameNoSemanticsAreRefused) {
  const Tensor w = Param({1, 2});
  Adam adam({w}, {.semantics = Semantics::kNNabla});
  const StateDict good = adam.state_dict();
  EXPECT_EQ(good["groups.0.semantics"].Item(), 1);
  for (const double number : {-1.0, 2.0, 0.5, 1e300, std::nan("")}) {
    StateDict bad;
    for (const auto& [name, t] : good) {
      bad.Insert(name, name == "groups.0.semantics" ? Full({}, number, DType::kF64) : t);
    }
    EXPECT_NE(ErrorOf([&] {
                adam.LoadStateDict(bad);
              }).find(", which stands for none of pytorch or nnabla"),
              std::string::npos)
        << number;
    EXPECT_EQ(adam.state_dict()["groups.0.semantics"].Item(), 1);
  }
  Adam other({w}, {});
  other.LoadStateDict(good);
  EXPECT_EQ(other.state_dict()["groups.0.semantics"].Item(), 1);
}

}  // namespace
}  // namespace firn::optim

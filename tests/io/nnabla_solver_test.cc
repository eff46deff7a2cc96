// States of solvers: a file of NNabla's own, and ours as its loader looks at them.
#include "io/nnabla_solver.h"

#include <hdf5.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/hdf5.h"
#include "optim/adam.h"
#include "optim/sgd.h"
#include "tensor/error.h"
#include "tensor/from.h"
#include "tensor/operators.h"
#include "tensor/ops.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::StatusOf;

constexpr char kSample[] = "tests/io/data/sample_solver_states.h5";

template <class Optimizer>
void Steps(Optimizer& optimizer, const Tensor& parameter, int n) {
  for (int i = 0; i < n; ++i) {
    optimizer.ZeroGrad();
    Sum(parameter * parameter).Backward();
    optimizer.Step();
  }
}

Tensor Parameter() { return FromValues({1.f, -2.f, 3.f}).SetRequiresGrad(); }

TEST(NnablaSolverTest, GoesOnFromAFileOfNnabla) {
  const Tensor w = Ones({8, 10}).SetRequiresGrad();
  optim::Adam adam({{"affine.affine.W", w}}, {.lr = 0.5});
  adam.LoadStateDict(LoadNnablaSolver(kSample, adam.state_dict(), {.solver = "Adam"}));
  const absl::StatusOr<StateDict> file = ReadHdf5(kSample);
  ASSERT_TRUE(file.ok());
  const StateDict state = adam.state_dict();
  EXPECT_EQ(state["state.affine.affine.W.step"].Item<int64_t>(), 5);
  EXPECT_TRUE(state["state.affine.affine.W.exp_avg"].Equals((*file)["affine.affine.W.mean"]));
  EXPECT_TRUE(state["state.affine.affine.W.exp_avg_sq"].Equals((*file)["affine.affine.W.var"]));
  EXPECT_EQ(adam.lr(), 0.5) << "options are the optimizer's own";

  const std::string path = TempPath("states.h5");
  SaveNnablaSolver(path, state, {.solver = "Adam"});
  const absl::StatusOr<StateDict> again = ReadHdf5(path);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->size(), file->size());
  for (const auto& [name, tensor] : *file) EXPECT_TRUE(tensor.Equals((*again)[name])) << name;
}

// NNabla's loader sorts groups by their attribute `index` and takes t and the states from each.
TEST(NnablaSolverTest, WritesTheGroupsThatNnablaLooksFor) {
  const Tensor a = Parameter(), b = Parameter();
  optim::Adam adam({{"c1.W", a}, {"c10.W", b}});
  adam.ZeroGrad();
  Sum(a + b).Backward();
  adam.Step();
  const std::string path = TempPath("groups.h5");
  SaveNnablaSolver(path, adam.state_dict(), {.solver = "Adam"});
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  int64_t want = 0;
  for (const char* group : {"c1/W", "c10/W"}) {
    int64_t index = -1, t = -1;
    const hid_t attribute = H5Aopen_by_name(file, group, "index", H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(attribute, 0) << group;
    H5Aread(attribute, H5T_NATIVE_INT64, &index);
    H5Aclose(attribute);
    EXPECT_EQ(index, want++);
    const hid_t steps = H5Dopen2(file, (std::string(group) + "/t").c_str(), H5P_DEFAULT);
    ASSERT_GE(steps, 0) << group;
    H5Dread(steps, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &t);
    H5Dclose(steps);
    EXPECT_EQ(t, 1);
    for (const char* state : {"/mean", "/var"}) {
      EXPECT_GT(H5Lexists(file, (std::string(group) + state).c_str(), H5P_DEFAULT), 0);
    }
  }
  H5Fclose(file);
}

// One that keeps the rate in its velocity, as NNabla's does, and one that does not.
TEST(NnablaSolverTest, AVelocityKeepsItsMeaning) {
  const std::string path = TempPath("velocity.h5");
  for (const bool nesterov : {false, true}) {
    const NnablaSolverOptions options = {.solver = nesterov ? "Nesterov" : "Momentum"};
    const Tensor p = Parameter(), q = Parameter();
    optim::Sgd plain({{"w", p}}, {.lr = 0.125, .momentum = 0.5, .nesterov = nesterov});
    Steps(plain, p, 3);
    SaveNnablaSolver(path, plain.state_dict(), options);
    const Tensor buffer = plain.state_dict()["state.w.momentum_buffer"];
    const absl::StatusOr<StateDict> file = ReadHdf5(path);
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE((*file)["w.m"].Equals(buffer * (nesterov ? -0.125 : 0.125)));

    q.Detach().CopyFrom(p.Detach());
    optim::Sgd with_rate({{"w", q}}, {.lr = 0.125,
                                      .momentum = 0.5,
                                      .nesterov = nesterov,
                                      .semantics = optim::Semantics::kNNabla});
    with_rate.LoadStateDict(LoadNnablaSolver(path, with_rate.state_dict(), options));
    EXPECT_TRUE(with_rate.state_dict()["state.w.momentum_buffer"].Equals(buffer * 0.125));
    plain.LoadStateDict(LoadNnablaSolver(path, plain.state_dict(), options));
    EXPECT_TRUE(plain.state_dict()["state.w.momentum_buffer"].Equals(buffer));
    Steps(plain, p, 2);
    Steps(with_rate, q, 2);
    EXPECT_TRUE(p.Equals(q)) << "powers of two: nothing is rounded differently";
  }
}

TEST(NnablaSolverTest, SgdHasStepsAlone) {
  const std::string path = TempPath("sgd.h5");
  const Tensor p = Parameter();
  optim::Sgd sgd({{"fc.weight", p}});
  Steps(sgd, p, 2);
  SaveNnablaSolver(path, sgd.state_dict(), {.solver = "Sgd", .rename = [](std::string_view) {
                                              return std::string("fc.affine.W");
                                            }});
  EXPECT_EQ((*ReadHdf5(path))["fc.affine.W.t"].Item<int64_t>(), 2);
  const StateDict state = LoadNnablaSolver(
      path, sgd.state_dict(),
      {.solver = "Sgd", .rename = [](std::string_view) { return std::string("fc.weight"); }});
  sgd.LoadStateDict(state);
  EXPECT_EQ(sgd.state_dict()["state.fc.weight.step"].Item<int64_t>(), 2);
}

TEST(NnablaSolverTest, RefusesWhatDoesNotFit) {
  const std::string path = TempPath("bad.h5");
  const Tensor p = Parameter(), q = Parameter();
  optim::Adam adam({{"w", p}});
  Steps(adam, p, 1);
  const StateDict state = adam.state_dict();
  EXPECT_THAT(ErrorOf([&] { SaveNnablaSolver(path, state, {.solver = "Eve"}); }),
              HasSubstr("unknown solver 'Eve' (want one of Sgd, SgdW"));
  EXPECT_THAT(ErrorOf([&] { SaveNnablaSolver(path, state, {.solver = "Momentum"}); }),
              HasSubstr("the state of w has no momentum_buffer, which Momentum has"));
  EXPECT_THAT(ErrorOf([&] { SaveNnablaSolver(path, state, {.solver = "Sgd"}); }),
              HasSubstr("has 3 states, of which Sgd has 1"));
  EXPECT_THAT(ErrorOf([&] { LoadNnablaSolver(kSample, state, {.solver = "Lion"}); }),
              HasSubstr("affine.affine.W.m: expected a state of floats of Lion, got none"));
  EXPECT_THAT(ErrorOf([&] { LoadNnablaSolver(kSample, state, {.solver = "Sgd"}); }),
              HasSubstr(": Sgd has no such state"));
  ASSERT_TRUE(WriteHdf5(path, {{"w.t", Ones({})}}).ok());
  EXPECT_EQ(StatusOf([&] { LoadNnablaSolver(path, state, {.solver = "Sgd"}); }).code(),
            absl::StatusCode::kDataLoss);
  optim::Sgd sgd({{"w", p}}, {.lr = 0.1, .momentum = 0.9});
  sgd.AddGroup({{"v", q}}, {.lr = 0.2, .momentum = 0.9});
  Steps(sgd, p, 1);
  EXPECT_THAT(ErrorOf([&] { SaveNnablaSolver(path, sgd.state_dict(), {.solver = "Momentum"}); }),
              HasSubstr("a velocity needs one learning rate"));
}

}  // namespace
}  // namespace firn::io

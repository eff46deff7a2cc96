// States of solvers: a file that NNabla wrote, and Firn's files as NNabla's loader reads them.
#include "firn/io/nnabla/nnabla_solver.h"

#include <hdf5.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/optim/adam.h"
#include "firn/optim/adam_family.h"
#include "firn/optim/rmsprop.h"
#include "firn/optim/sgd.h"
#include "firn/optim/trust_ratio.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::StatusOf;

constexpr char kSample[] = "tests/io/hdf5/data/sample_solver_states.h5";

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
  const absl::StatusOr<StateDict> file = TryLoadHdf5(kSample);
  ASSERT_TRUE(file.ok());
  const StateDict state = adam.state_dict();
  EXPECT_EQ(state["state.affine.affine.W.step"].Item<int64_t>(), 5);
  EXPECT_TRUE(state["state.affine.affine.W.exp_avg"].Equals((*file)["affine.affine.W.mean"]));
  EXPECT_TRUE(state["state.affine.affine.W.exp_avg_sq"].Equals((*file)["affine.affine.W.var"]));
  EXPECT_EQ(adam.lr(), 0.5) << "options are the optimizer's own";

  const std::string path = TempPath("states.h5");
  SaveNnablaSolver(path, state, {.solver = "Adam"});
  const absl::StatusOr<StateDict> again = TryLoadHdf5(path);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->size(), file->size());
  for (const auto& [name, tensor] : *file) EXPECT_TRUE(tensor.Equals((*again)[name])) << name;
}

// NNabla's loader sorts groups by their attribute `index` and takes t and the states from each.
// The contents of a file, without the attribute.
TEST(NnablaSolverTest, StatesGoThereAndBack) {
  const Tensor w = Parameter(), again = Parameter();
  const optim::SgdOptions options = {
      .lr = 0.1, .momentum = 0.9, .nesterov = true, .lr_in_velocity = true};
  optim::Sgd sgd({{"w", w}}, options), other({{"w", again}}, options);
  Steps(sgd, w, 2);
  const StateDict states = NnablaSolverStates(sgd.state_dict(), {.solver = "Nesterov"});
  EXPECT_EQ(states["w.t"].Item<int64_t>(), 2);
  EXPECT_TRUE(states["w.m"].Equals(sgd.state_dict()["state.w.momentum_buffer"] * -1.0));
  other.LoadStateDict(
      FromNnablaSolverStates(states, "there", other.state_dict(), {.solver = "Nesterov"}));
  EXPECT_TRUE(other.state_dict()["state.w.momentum_buffer"].Equals(
      sgd.state_dict()["state.w.momentum_buffer"]));
  EXPECT_THAT(ErrorOf([&] {
                FromNnablaSolverStates({{"w.t", states["w.t"]}}, "there", other.state_dict(),
                                       {.solver = "Nesterov"});
              }),
              HasSubstr("there: w.m: expected a state of floats of Nesterov, got none"));
}

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

// An optimizer that keeps the rate in its velocity, like NNabla's, and one that does not.
TEST(NnablaSolverTest, AVelocityKeepsItsMeaning) {
  const std::string path = TempPath("velocity.h5");
  for (const bool nesterov : {false, true}) {
    const NnablaSolverOptions options = {.solver = nesterov ? "Nesterov" : "Momentum"};
    const Tensor p = Parameter(), q = Parameter();
    optim::Sgd plain({{"w", p}}, {.lr = 0.125, .momentum = 0.5, .nesterov = nesterov});
    Steps(plain, p, 3);
    SaveNnablaSolver(path, plain.state_dict(), options);
    const Tensor buffer = plain.state_dict()["state.w.momentum_buffer"];
    const absl::StatusOr<StateDict> file = TryLoadHdf5(path);
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

using Factors = std::vector<std::pair<std::string, double>>;

// Saves an optimizer's states as the solver's; the file then has the count of steps and the states
// in `want`: NNabla's name, and the factor by which Firn's state is multiplied. An optimizer that
// goes on from the file moves as the one that was saved.
template <class Optimizer>
void GoesOnFromItsFile(const std::string& solver, const typename Optimizer::Options& options,
                       const std::vector<std::string>& states, const Factors& want) {
  SCOPED_TRACE(solver);
  const std::string path = TempPath(solver + ".h5");
  const Tensor p = Parameter(), q = Parameter();
  Optimizer saved({{"w", p}}, options);
  Steps(saved, p, 3);
  SaveNnablaSolver(path, saved.state_dict(), {.solver = solver});
  const absl::StatusOr<StateDict> file = TryLoadHdf5(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->size(), want.size() + 1);
  EXPECT_EQ((*file)["w.t"].Item<int64_t>(), 3);
  for (size_t i = 0; i < want.size(); ++i) {
    const Tensor ours = saved.state_dict()["state.w." + states[i]];
    EXPECT_NE(Sum(Abs(ours)).Item(), 0) << states[i];
    EXPECT_TRUE((*file)["w." + want[i].first].Equals(ours * want[i].second)) << want[i].first;
  }
  q.Detach().CopyFrom(p.Detach());
  Optimizer resumed({{"w", q}}, options);
  resumed.LoadStateDict(LoadNnablaSolver(path, resumed.state_dict(), {.solver = solver}));
  Steps(saved, p, 2);
  Steps(resumed, q, 2);
  EXPECT_TRUE(p.Equals(q));
}

TEST(NnablaSolverTest, LarsRmspropGravesAndAdabeliefGoOnFromTheirFiles) {
  GoesOnFromItsFile<optim::Lars>("Lars", {.lr = 0.25, .coefficient = 0.5}, {"momentum_buffer"},
                                 {{"v", 1}});
  GoesOnFromItsFile<optim::RmspropGraves>("RMSpropGraves", {.lr = 0.25},
                                          {"square_avg", "grad_avg", "momentum_buffer"},
                                          {{"n", 1}, {"g", 1}, {"d", -1}});
  GoesOnFromItsFile<optim::Adabelief>("AdaBelief", {.lr = 0.25}, {"exp_avg", "exp_avg_var"},
                                      {{"mean", 1}, {"var", 1}});
  GoesOnFromItsFile<optim::Adabelief>("AdaBelief", {.lr = 0.25, .amsgrad = true},
                                      {"exp_avg", "exp_avg_var", "max_exp_avg_var"},
                                      {{"mean", 1}, {"var", 1}, {"s_max", 1}});
}

// The value to which a step moves a parameter of 2 with a gradient of 3, going on from a file with
// these states of four steps.
template <class Optimizer>
double NextStep(const std::string& solver, const typename Optimizer::Options& options,
                const std::vector<std::pair<std::string, float>>& states) {
  StateDict file = {{"w.t", FromVector(std::vector<int64_t>{4}, Shape())}};
  for (const auto& [name, value] : states) file.Insert("w." + name, FromValues({value}));
  const std::string path = TempPath(solver + "_next.h5");
  EXPECT_TRUE(TrySaveHdf5(path, file).ok());
  Tensor w = FromValues({2.f}).SetRequiresGrad();
  Optimizer optimizer({{"w", w}}, options);
  optimizer.LoadStateDict(LoadNnablaSolver(path, optimizer.state_dict(), {.solver = solver}));
  w.SetGrad(FromValues({3.f}));
  optimizer.Step();
  return static_cast<double>(w.ToVector<float>()[0]);
}

// Makes the next step as NNabla's solvers would, so that signs and scales of states count. (With
// amsgrad, NNabla adds eps to the maximum and not to the variance.)
TEST(NnablaSolverTest, StatesOfAFileMeanWhatTheyMeanThere) {
  const double rate = 0.5 * 0.25 * 2 / 3;  // lr coefficient |w| / |grad|
  EXPECT_NEAR(NextStep<optim::Lars>("Lars", {.lr = 0.5, .momentum = 0.75, .coefficient = 0.25},
                                    {{"v", 0.4f}}),
              2 - (0.75 * 0.4 + rate * 3), 1e-6);

  const double n = 0.5 * 16 + 0.5 * 9, g = 0.5 * 1 + 0.5 * 3;
  EXPECT_NEAR(NextStep<optim::RmspropGraves>(
                  "RMSpropGraves", {.lr = 0.5, .alpha = 0.5, .momentum = 0.75, .eps = 0.25},
                  {{"n", 16.f}, {"g", 1.f}, {"d", 0.4f}}),
              2 + 0.75 * 0.4 - 0.5 * 3 / std::sqrt(n - g * g + 0.25), 1e-6);

  const double mean = 0.5 * 1 + 0.5 * 3, var = 0.75 * 4 + 0.25 * (3 - mean) * (3 - mean) + 0.25;
  const double correction = std::sqrt(1 - std::pow(0.75, 5)), alpha = 0.5 / (1 - std::pow(0.5, 5));
  const optim::AdabeliefOptions options = {.lr = 0.5, .beta1 = 0.5, .beta2 = 0.75, .eps = 0.25};
  EXPECT_NEAR(NextStep<optim::Adabelief>("AdaBelief", options, {{"mean", 1.f}, {"var", 4.f}}),
              2 - alpha * mean / (std::sqrt(var) / correction + 0.25), 1e-6);
  optim::AdabeliefOptions amsgrad = options;
  amsgrad.amsgrad = true;
  EXPECT_NEAR(NextStep<optim::Adabelief>("AdaBelief", amsgrad,
                                         {{"mean", 1.f}, {"var", 4.f}, {"s_max", 9.f}}),
              2 - alpha * mean / (std::sqrt(9.) / correction + 0.25), 1e-6);
}

TEST(NnablaSolverTest, MaximaOfAdabeliefAreThereWithAmsgradAlone) {
  const std::string path = TempPath("maxima.h5");
  const Tensor p = Parameter();
  optim::Adabelief plain({{"w", p}}), amsgrad({{"w", p}}, {.amsgrad = true});
  const auto load = [&](optim::Adabelief& optimizer) {
    return ErrorOf([&] {
      optimizer.LoadStateDict(
          LoadNnablaSolver(path, optimizer.state_dict(), {.solver = "AdaBelief"}));
    });
  };
  Steps(plain, p, 1);
  SaveNnablaSolver(path, plain.state_dict(), {.solver = "AdaBelief"});
  EXPECT_EQ(load(plain), "");
  EXPECT_THAT(load(amsgrad), HasSubstr("no state.w.max_exp_avg_var"));
  Steps(amsgrad, p, 1);
  SaveNnablaSolver(path, amsgrad.state_dict(), {.solver = "AdaBelief"});
  EXPECT_EQ(load(amsgrad), "");
  EXPECT_THAT(load(plain), HasSubstr("unexpected state.w.max_exp_avg_var"));
}

TEST(NnablaSolverTest, SgdHasStepsAlone) {
  const std::string path = TempPath("sgd.h5");
  const Tensor p = Parameter();
  optim::Sgd sgd({{"fc.weight", p}});
  Steps(sgd, p, 2);
  SaveNnablaSolver(path, sgd.state_dict(), {.solver = "Sgd", .rename = [](std::string_view) {
                                              return std::string("fc.affine.W");
                                            }});
  EXPECT_EQ((*TryLoadHdf5(path))["fc.affine.W.t"].Item<int64_t>(), 2);
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
  ASSERT_TRUE(TrySaveHdf5(path, {{"w.t", Ones({})}}).ok());
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

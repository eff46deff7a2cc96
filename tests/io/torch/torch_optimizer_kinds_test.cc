// Each registered optimizer goes through PyTorch's files as one of its kinds, or is refused; and a
// file of one kind is refused for the others.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/io/torch/internal/torch_pickler.h"
#include "firn/io/torch/torch_optimizer.h"
#include "firn/optim/registry.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// Those that torch.optim has not, and Muon, which differs there. A new optimizer is in here, or
// comes back from a file.
const std::set<std::string> kOnlyFirns = {"adabelief", "adabound", "lamb", "lars",
                                          "lion",      "muon",     "sgdw", "rmsprop_graves"};

// Default options, or those that bring further states.
class Options final : public inner::AttrVisitor {
 public:
  explicit Options(bool more_states) : more_states_(more_states) {}
  void Field(const char*, int64_t&) override {}
  void Field(const char* name, double& value) override {
    if (more_states_ && std::string(name) == "momentum") value = 0.5;
  }
  void Field(const char* name, bool& value) override {
    const std::string option = name;
    if (more_states_ && (option == "amsgrad" || option == "centered")) value = true;
  }
  void Field(const char*, std::string&) override {}
  void Field(const char*, std::vector<int64_t>&) override {}

 private:
  bool more_states_;
};

std::unique_ptr<optim::Optimizer> Make(const std::string& name, bool more_states,
                                       const std::vector<Tensor>& parameters) {
  Options options(more_states);
  return optim::ConfigureOptimizer(name, options)(parameters);
}

StateDict AfterTwoSteps(const std::string& name, bool more_states) {
  const Tensor matrix = Ones({2, 3}).SetRequiresGrad();
  const Tensor vector = FromValues({1.f, -2.f}).SetRequiresGrad();
  const auto optimizer = Make(name, more_states, {matrix, vector});
  for (int i = 0; i < 2; ++i) {
    optimizer->ZeroGrad();
    (Sum(matrix * matrix) + Sum(vector * vector)).Backward();
    optimizer->Step();
  }
  return optimizer->state_dict();
}

TEST(TorchOptimizerKindsTest, EachGoesThroughAFileOrIsRefused) {
  size_t back = 0, refused = 0;
  for (const std::string& name : optim::OptimizerNames()) {
    for (const bool more_states : {false, true}) {
      SCOPED_TRACE(name);
      const std::string path = TempPath(name + ".pt");
      if (kOnlyFirns.contains(name)) {
        const StateDict state = Make(name, more_states, {Ones({2, 3})})->state_dict();
        EXPECT_THAT(ErrorOf([&] { SaveTorchOptimizer(path, state, {.parameters = {"0"}}); }),
                    HasSubstr("groups.0: no optimizer of PyTorch has the options lr, "));
        ++refused;
        continue;
      }
      const StateDict state = AfterTwoSteps(name, more_states);
      SaveTorchOptimizer(path, state, {.parameters = {"0", "1"}});
      const StateDict loaded = LoadTorchOptimizer(path, state);
      const bool is_plain = name == "sgd" && !more_states;  // has no state in PyTorch
      if (!is_plain) {
        EXPECT_EQ(loaded.size(), state.size());
      }
      for (const auto& [entry, value] : loaded) {
        if (name == "sgd" && entry.ends_with(".step")) continue;  // PyTorch's counts none
        EXPECT_TRUE(value.Equals(state[entry])) << entry;
      }
      ++back;
    }
  }
  EXPECT_EQ(refused, 2 * kOnlyFirns.size());
  EXPECT_GE(back, 22U);
}

// Otherwise a velocity or an average would be read as another's.
TEST(TorchOptimizerKindsTest, AFileOfOneKindIsRefusedForTheOthers) {
  std::vector<std::string> kinds;
  for (const std::string& name : optim::OptimizerNames()) {
    if (kOnlyFirns.contains(name)) continue;
    kinds.push_back(name);
    SaveTorchOptimizer(TempPath(name + ".pt"), AfterTwoSteps(name, true),
                       {.parameters = {"0", "1"}});
  }
  const std::set<std::string> alike = {"adam", "adamw"};
  for (const std::string& name : optim::OptimizerNames()) {
    const StateDict mine = Make(name, false, {Ones({2, 3})})->state_dict();
    for (const std::string& other : kinds) {
      if (other == name || (alike.contains(name) && alike.contains(other))) continue;
      EXPECT_THAT(
          ErrorOf([&] { LoadTorchOptimizer(TempPath(other + ".pt"), mine); }),
          AnyOf(HasSubstr("no optimizer of PyTorch has the options"), HasSubstr(": expected ")))
          << other << " for " << name;
    }
  }
}

// Older versions of PyTorch have fewer options, and schedules add some.
TEST(TorchOptimizerKindsTest, OlderFilesAndWordsOfSchedulesAreRead) {
  const std::string path = TempPath("nadam.pt");
  internal::TorchPickler pickler;
  pickler.BeginDict();
  pickler.Text("state");
  pickler.BeginDict();
  pickler.EndDict();
  pickler.Text("param_groups");
  pickler.BeginList();
  pickler.BeginDict();
  for (const char* word : {"lr", "eps", "weight_decay", "momentum_decay", "initial_lr"}) {
    pickler.Text(word);
    pickler.Number(0.25);
  }
  pickler.Text("betas");
  pickler.BeginTuple();
  pickler.Number(0.5);
  pickler.Number(0.75);
  pickler.EndTuple();
  pickler.EndDict();
  pickler.EndList();
  pickler.EndDict();
  ASSERT_TRUE(pickler.WriteTo(path).ok());
  const StateDict nadam = Make("nadam", false, {Ones({2, 3})})->state_dict();
  const StateDict loaded = LoadTorchOptimizer(path, nadam);
  EXPECT_EQ(loaded.size(), nadam.size());
  EXPECT_EQ(loaded["groups.0.beta2"].Item(), 0.75);
  EXPECT_EQ(loaded["groups.0.decoupled_weight_decay"].Item(), 0);
}

TEST(TorchOptimizerKindsTest, AStateOfAnotherKindIsNotWritten) {
  StateDict sgd = AfterTwoSteps("sgd", true);
  sgd.Insert("state.0.exp_avg", Ones({2, 3}));
  EXPECT_THAT(ErrorOf([&] {
                SaveTorchOptimizer(TempPath("a.pt"), sgd, {.parameters = {"0", "1"}});
              }),
              HasSubstr("SGD of PyTorch has no state.0.exp_avg"));
}

}  // namespace
}  // namespace firn::io

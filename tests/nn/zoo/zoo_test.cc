// Every network of the zoo against PyTorch's: names and shapes, the result in evaluation mode, a
// training step; and what Firn makes of it: frozen, exported to ONNX and imported again it gives
// the same bits.
#include "firn/nn/zoo/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "firn/autograd/graph/freeze_list.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/optim/optimizers.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/precision.h"
#include "tests/io/test_files.h"
#include "tests/nn/zoo/reference.h"

namespace firn::zoo {
namespace {

using testing::ZooReference;

class Zoo : public ::testing::TestWithParam<std::string> {
 protected:
  // Direct sums, which round as PyTorch's in f64 nearly do.
  void SetUp() override { SetWinogradAllowed(false); }
  void TearDown() override { SetWinogradAllowed(true); }
};

std::unique_ptr<nn::Module> Filled(const std::string& name) {
  std::unique_ptr<nn::Module> net = MakeModule(name, {.dropout = 0});
  testing::FillByNames(*net);
  return net;
}

TEST_P(Zoo, HasThePublishedParameters) {
  const Network& network = Find(GetParam());
  const ZooReference want = testing::ReadZooReference(GetParam());
  const std::unique_ptr<nn::Module> net = network.make({});
  EXPECT_EQ(testing::NamesOf(*net), want.names) << *net;
  EXPECT_EQ(net->num_parameters(), want.parameters);
  EXPECT_EQ(network.parameters, want.parameters);
}

void ToF64(nn::Module& net, std::vector<Tensor>& inputs) {
  net.To(DType::kF64);
  for (Tensor& x : inputs) {
    if (IsFloating(x.dtype())) x = x.To(DType::kF64);
  }
}

// Deep networks without statistics of their own make roundings of f32 as large as their results:
// PyTorch's f32 and f64 differ as well, and both are f64 here.
TEST_P(Zoo, GivesWhatPyTorchGives) {
  const ZooReference want = testing::ReadZooReference(GetParam());
  const std::unique_ptr<nn::Module> net = Filled(GetParam());
  net->Eval();
  const NoGradScope no_grad;
  std::vector<Tensor> inputs = testing::InputsOf(want);
  if (want.single > 0) ToF64(*net, inputs);
  const Tensor y = Call(*net, inputs);
  ASSERT_EQ(y.shape(), Shape(want.shape));
  EXPECT_NEAR(Amax(Abs(y)).Item(), want.largest, 1e-5 * want.largest);
  const std::vector<double> got = testing::Spread(y, want.values.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], want.values[i], 1e-5 * want.largest) << i;
  }
}

// In f64, for a step may lead to where roundings of f32 make another loss of it.
TEST_P(Zoo, TrainsAStepAsPyTorchDoes) {
  const ZooReference want = testing::ReadZooReference(GetParam());
  const std::unique_ptr<nn::Module> net = Filled(GetParam());
  std::vector<Tensor> inputs = testing::InputsOf(want);
  {
    const NoGradScope no_grad;
    const std::unique_ptr<nn::Module> same = Filled(GetParam());
    EXPECT_NEAR(testing::ZooLoss(Call(*same, inputs)).Item(), want.losses[0],
                1e-4 * std::abs(want.losses[0]));
  }
  ToF64(*net, inputs);
  optim::Sgd sgd(net->parameters(), {.lr = testing::kZooRate});
  for (const double loss : want.losses) {
    sgd.ZeroGrad();
    const Tensor got = testing::ZooLoss(Call(*net, inputs));
    EXPECT_NEAR(got.Item(), loss, 1e-7 * std::abs(loss));
    got.Backward();
    sgd.Step();
  }
}

TEST_P(Zoo, FreezesExportsAndIsReadAgainWithTheSameBits) {
  const ZooReference want = testing::ReadZooReference(GetParam());
  const std::unique_ptr<nn::Module> net = Filled(GetParam());
  net->Eval();
  const NoGradScope no_grad;
  const std::vector<Tensor> inputs = testing::InputsOf(want);
  const Tensor y = Call(*net, inputs);
  StaticGraph graph = Freeze([&](const std::vector<Tensor>& in) { return Call(*net, in); }, inputs);
  const auto bits = y.ToVector<float>();
  EXPECT_EQ(graph.Call(inputs)[0].ToVector<float>(), bits);
  const std::string path = io::TempPath("net.onnx");
  // Newer operators keep attention whole.
  const io::OnnxExportOptions file = {.opset = 23, .names = net->state_dict()};
  EXPECT_TRUE(io::ExportOnnx(path, graph, file).warnings.empty());
  EXPECT_EQ(io::ImportOnnx(path).network.Call(inputs)[0].ToVector<float>(), bits);
}

// The smallest network of each family; with FIRN_ZOO=all every one, with FIRN_ZOO=a,b those.
std::vector<std::string> Chosen() {
  const char* const asked = std::getenv("FIRN_ZOO");
  if (asked != nullptr && std::string_view(asked) == "all") return Names();
  if (asked != nullptr) return absl::StrSplit(asked, ',');
  std::map<std::string, const Network*> smallest;
  for (const std::string& name : Names()) {
    const Network& network = Find(name);
    const Network*& known = smallest[network.family];
    if (known == nullptr || network.parameters < known->parameters) known = &network;
  }
  std::vector<std::string> names;
  for (const auto& [family, network] : smallest) names.push_back(network->name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Networks, Zoo, ::testing::ValuesIn(Chosen()),
                         [](const auto& param) { return param.param; });

TEST(ZooNames, EveryNetworkHasAReference) { EXPECT_EQ(Names(), testing::ZooReferences()); }

}  // namespace
}  // namespace firn::zoo

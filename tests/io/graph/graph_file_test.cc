// Graphs that go through a file compute the same, to the bit, and own or borrow their states.
#include "firn/io/graph/graph_file.h"

#include <memory>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/device/comm/groups.h"
#include "firn/device/comm/thread_ranks.h"
#include "firn/device/inner.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/autograd/graph/training.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::ConvNet;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

StaticGraph RoundTrip(const StaticGraph& graph, const SaveGraphOptions& options = {}) {
  const std::string path = TempPath("net.firn");
  const absl::Status saved = TrySaveGraph(path, graph, options);
  EXPECT_TRUE(saved.ok()) << saved;
  absl::StatusOr<StaticGraph> loaded = TryLoadGraph(path);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return *std::move(loaded);
}

std::vector<std::string> Names(const StateDict& state) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state) names.push_back(name);
  return names;
}

struct Mlp : nn::Module {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 6, .out = 8});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 8, .out = 3});
  Tensor Forward(const Tensor& x) { return fc2(Relu(fc1(x))); }
};

StaticGraph FrozenMlp(Mlp& net) {
  return Freeze([&net](const Tensor& x) { return net.Forward(x); }, Zeros({4, 6}));
}

TEST(GraphFileTest, AnMlpComputesTheSame) {
  Mlp net;
  StaticGraph loaded = RoundTrip(FrozenMlp(net));
  for (int i = 0; i < 3; ++i) {
    const Tensor x = Randn({4, 6});
    EXPECT_TRUE(loaded(x).Equals(net.Forward(x)));
  }
}

TEST(GraphFileTest, AConvolutionalNetComputesTheSame) {
  ConvNet net;
  net.Eval();
  StaticGraph frozen =
      Freeze([&net](const Tensor& x) { return net.Forward(x); }, Zeros({4, 1, 8, 8}));
  StaticGraph loaded = RoundTrip(frozen);
  const Tensor x = Randn({4, 1, 8, 8});
  EXPECT_TRUE(loaded(x).Equals(frozen(x)));
  EXPECT_TRUE(loaded(x).Equals(net.Forward(x)));
}

// Parameters, running statistics, the optimizer's state and the random stream go on where they
// stood, in the program that goes on and in the one that loads.
TEST(GraphFileTest, ATrainingStepGoesOnWhereItStood) {
  testing::Training<ConvNet, optim::Adam> training({.lr = 1e-2});
  const std::vector<testing::Batch> batches = testing::Batches(6, {4, 1, 8, 8}, 5);
  StaticGraph step = training.FrozenStep(batches[0]);
  step(batches[1].x, batches[1].labels);
  StaticGraph loaded = RoundTrip(step);
  for (size_t i = 2; i < batches.size(); ++i) {
    const Tensor want = step(batches[i].x, batches[i].labels);
    EXPECT_TRUE(loaded(batches[i].x, batches[i].labels).Equals(want)) << i;
  }
}

// Attributes of all types: numbers of all widths, enumerations, booleans, lists, sizes.
TEST(GraphFileTest, KeepsAttributesOfEveryKind) {
  const auto f = [](const Tensor& x) {
    const Tensor padded = Pad(x, {1, 2, 0, 1}, {.mode = PadMode::kReflect});
    const Tensor y = Sum(Permute(padded, {1, 0, 2}), {0, 2}, true) * 0.1;
    const Tensor z = Gelu(y.To(DType::kF64), GeluApproximate::kTanh).To(DType::kF32);
    const Tensor pooled = AvgPool2d(Unsqueeze(padded, 1), 2);
    const Tensor filled = Full({2, 2}, -3.75) + Arange(4).Reshape({2, 2}).To(DType::kF32);
    return TensorList{z,
                      pooled,
                      filled,
                      Topk(x, 2, -1).values,
                      x[{kAll, Range(0, 4, 2)}],
                      LeakyRelu(x - 1, 0.3),
                      Div(x, x + 3, DivRounding::kFloor)};
  };
  const Tensor x = Randn({3, 4, 5});
  StaticGraph frozen = Freeze(f, x);
  StaticGraph loaded = RoundTrip(frozen);
  EXPECT_EQ(loaded.captured().DebugString(), RoundTrip(loaded).captured().DebugString());
  const Tensor other = Randn({3, 4, 5});
  const TensorList want = f(other), got = loaded.Call({&other, 1});
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(got[i].dtype(), want[i].dtype()) << i;
    EXPECT_TRUE(got[i].Equals(want[i].Contiguous())) << i << want[i] << got[i];
  }
}

TEST(GraphFileTest, KeepsEveryDTypeOfStates) {
  std::vector<Tensor> states;
  for (int i = 0; i < kNumDTypes; ++i) {
    states.push_back(FromValues({0.f, 1.f, 1.f}).To(static_cast<DType>(i)));
  }
  const auto f = [&](const Tensor& x) {
    TensorList all;
    for (const Tensor& s : states) all.push_back(x + s.To(DType::kF32));
    return all;
  };
  StaticGraph loaded = RoundTrip(Freeze(f, Zeros({3})));
  const Tensor x = Randn({3});
  const TensorList want = f(x), got = loaded.Call({&x, 1});
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(got[i].Equals(want[i])) << i;
}

TEST(GraphFileTest, KeepsViewsOfStatesInTheirMemory) {
  Tensor all = Randn({4, 6});
  Tensor part = all[{Range(1, 3), Range(2, 5)}];
  const auto f = [&](const Tensor& x) {
    part.CopyFrom(x);  // seen through `all`
    return Sum(all, 1);
  };
  NoGradScope no_grad;
  StaticGraph frozen = Freeze(f, Zeros({2, 3}));
  StaticGraph loaded = RoundTrip(frozen);
  const Tensor x = Randn({2, 3});
  EXPECT_TRUE(loaded(x).Equals(f(x)));
}

// --- States --------------------------------------------------------------------------------------

TEST(GraphFileTest, NamesStatesAndChangesOnlyItsOwn) {
  Mlp net;
  const std::string path = TempPath("net.firn");
  StaticGraph frozen = FrozenMlp(net);
  ASSERT_TRUE(TrySaveGraph(path, frozen, {.names = net.state_dict()}).ok());
  absl::StatusOr<GraphFile> file = TryReadGraph(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(Names(file->states),
              UnorderedElementsAre("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"));
  for (const auto& [name, tensor] : file->states) {
    EXPECT_TRUE(tensor.Equals(net.state_dict()[name])) << name;
  }
  StaticGraph loaded = *StaticGraph::Compile(std::move(file->graph));
  const Tensor x = Randn({4, 6}), before = frozen(x);
  Tensor bias = file->states["fc2.bias"];
  bias.Fill(100);
  EXPECT_TRUE(frozen(x).Equals(before));
  EXPECT_FALSE(loaded(x).Equals(before));
}

TEST(GraphFileTest, NamesStatesThatHaveNone) {
  const Tensor a = Randn({3}), b = Randn({3});
  StaticGraph frozen = Freeze([&](const Tensor& x) { return x * a + b; }, Zeros({3}));
  const std::string path = TempPath("net.firn");
  ASSERT_TRUE(
      TrySaveGraph(path, frozen, {.names = {{"unnamed.0", b}, {"other", Randn({9})}}}).ok());
  EXPECT_THAT(Names(TryReadGraph(path)->states), ElementsAre("unnamed.1", "unnamed.0"));
}

TEST(GraphFileTest, WithoutElementsItTakesAModelsTensors) {
  Mlp net;
  const std::string path = TempPath("net.firn"), whole = TempPath("whole.firn");
  ASSERT_TRUE(
      TrySaveGraph(path, FrozenMlp(net), {.names = net.state_dict(), .with_states = false}).ok());
  ASSERT_TRUE(TrySaveGraph(whole, FrozenMlp(net), {.names = net.state_dict()}).ok());
  EXPECT_LT(ReadFile(path).size() + 4 * (6 * 8 + 8 + 8 * 3 + 3), ReadFile(whole).size() + 1);

  const absl::Status missing = TryLoadGraph(path).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("holds no elements of state 'fc"));

  Mlp other;
  const Tensor x = Randn({4, 6});
  const NoGradScope no_grad;
  for (const std::string& file : {path, whole}) {
    absl::StatusOr<StaticGraph> loaded = TryLoadGraph(file, {.states = other.state_dict()});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_TRUE((*loaded)(x).Equals(other.Forward(x)));
    Tensor weight = other.fc1.weight();  // the very tensor that the graph reads
    weight.Fill(file == path ? 0.25 : 0.5);
    EXPECT_TRUE((*loaded)(x).Equals(other.Forward(x)));
  }
}

TEST(GraphFileTest, RefusesTensorsThatAreNotTheStates) {
  Mlp net;
  const std::string path = TempPath("net.firn");
  ASSERT_TRUE(TrySaveGraph(path, FrozenMlp(net), {.names = net.state_dict()}).ok());
  const auto error = [&](const StateDict& states) {
    return std::string(TryLoadGraph(path, {.states = states}).status().message());
  };
  EXPECT_THAT(error({{"fc1.bias", Zeros({7})}}),
              HasSubstr("state 'fc1.bias' is f32 [8] on cpu, the tensor given for it is f32 [7]"));
  EXPECT_THAT(error({{"fc1.bias", Tensor()}}), HasSubstr("given for it is undefined"));
  const Tensor both = Zeros({11});
  EXPECT_THAT(error({{"fc1.bias", both[Range(0, 8)]}, {"fc2.bias", both[Range(8, 11)]}}),
              HasSubstr("shares memory with another"));
}

// --- Refusals ------------------------------------------------------------------------------------

TEST(GraphFileTest, GradientsAreDroppedOnlyWhenAskedFor) {
  Tensor w = Randn({3});
  w.SetRequiresGrad();
  bool clears = false;
  const auto run = [&](const Tensor& x) {
    if (clears) w.ZeroGrad();
    const Tensor loss = Sum(x * w);
    loss.Backward();
    return loss;
  };
  const std::string path = TempPath("net.firn");
  // A graph file has no leaves, so it cannot add to their gradients.
  EXPECT_THAT(
      std::string(TrySaveGraph(path, Freeze(run, Randn({3})), {.drop_gradients = true}).message()),
      HasSubstr("adds to the gradient that it finds in a leaf f32 [3]"));
  clears = true;
  StaticGraph frozen = Freeze(run, Randn({3}));
  const absl::Status status = TrySaveGraph(path, frozen);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("gradients in the grad() of 1 leaves"));
  const Tensor x = Randn({3});
  EXPECT_TRUE(RoundTrip(frozen, {.drop_gradients = true})(x).Equals(frozen(x)));
}

TEST(GraphFileTest, SaysWhyAFileCannotBeWrittenOrRead) {
  Mlp net;
  const StaticGraph graph = FrozenMlp(net);
  EXPECT_EQ(TrySaveGraph("/nowhere/net.firn", graph).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(TryLoadGraph(TempPath("none.firn")).status().code(), absl::StatusCode::kNotFound);
  const absl::Status unnamed = TrySaveGraph(TempPath("net.firn"), graph, {.with_states = false});
  EXPECT_EQ(unnamed.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(unnamed.message()), HasSubstr("must have a name"));
  Graph two_devices = graph.graph();
  two_devices.buffers.back().device = Device::Cuda(0);
  const absl::Status mixed = TrySaveGraph(TempPath("net.firn"), two_devices);
  EXPECT_EQ(mixed.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(mixed.message()), HasSubstr("this graph uses cpu and cuda:0"));
  const std::string text = TempPath("text.firn");
  WriteFile(text, "this is no graph, and long enough to have a header");
  EXPECT_EQ(std::string(TryLoadGraph(text).status().message()),
            text + R"(: offset 0, signature: expected "\x89\x46IRN\r\n\x1a", got "this is ": )" +
                "not a graph file");
  WriteFile(text, "");
  EXPECT_THAT(std::string(TryLoadGraph(text).status().message()),
              HasSubstr("got an empty file: not a graph file"));
}

TEST(GraphFileTest, SaveAndLoadThrowWhatTheOthersReturn) {
  const std::string path = TempPath("net.firn"), missing = TempPath("none.firn");
  const StaticGraph graph = Freeze([](const Tensor& x) { return Relu(x) * 2; }, Ones({2}));
  SaveGraph(path, graph);
  StaticGraph loaded = LoadGraph(path);
  EXPECT_TRUE(loaded(Ones({2})).Equals(Full({2}, 2)));
  SaveGraph(path, graph.captured());
  EXPECT_TRUE(LoadGraph(path)(Ones({2})).Equals(Full({2}, 2)));
  const absl::Status status = testing::StatusOf([&] { LoadGraph(missing); });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("load graph: cannot open " + missing));
  EXPECT_THAT(testing::ErrorOf([&] { ReadGraph("/nowhere/net.firn"); }),
              HasSubstr("read graph: cannot open /nowhere/net.firn"));
  EXPECT_THAT(testing::ErrorOf([&] { SaveGraph("/nowhere/net.firn", graph); }),
              HasSubstr("save /nowhere/net.firn: "));
  EXPECT_THAT(testing::ErrorOf([&] { SaveGraph("/nowhere/net.firn", graph.captured()); }),
              HasSubstr("save /nowhere/net.firn: "));
}

TEST(GraphFileTest, KeepsToItsLimits) {
  Mlp net;
  const std::string path = TempPath("net.firn");
  ASSERT_TRUE(TrySaveGraph(path, FrozenMlp(net)).ok());
  const auto code = [&](const LoadGraphOptions& o) {
    return TryLoadGraph(path, o).status().code();
  };
  EXPECT_EQ(code({}), absl::StatusCode::kOk);
  const auto exhausted = absl::StatusCode::kResourceExhausted;
  EXPECT_EQ(code({.max_operations = 2}), exhausted);
  EXPECT_EQ(code({.limits = {.max_tensors = 5}}), exhausted);
  EXPECT_EQ(code({.limits = {.max_total_bytes = 600}}), exhausted);
  EXPECT_EQ(code({.limits = {.max_metadata_bytes = 100}}), exhausted);
  EXPECT_EQ(code({.limits = {.max_name_bytes = 3}}), exhausted);
}

TEST(GraphFileTest, EqualGraphsGiveEqualFiles) {
  Mlp net;
  const std::string first = TempPath("1.firn"), second = TempPath("2.firn");
  ASSERT_TRUE(TrySaveGraph(first, FrozenMlp(net)).ok());
  ASSERT_TRUE(TrySaveGraph(second, FrozenMlp(net)).ok());
  EXPECT_EQ(ReadFile(first), ReadFile(second));
  StaticGraph loaded = *TryLoadGraph(first);
  ASSERT_TRUE(TrySaveGraph(second, loaded, {.names = TryReadGraph(first)->states}).ok());
  EXPECT_EQ(ReadFile(first), ReadFile(second));
}

// A file of version 1, as the first Firn with graph files wrote it; data/README.md says what it
// holds.
TEST(GraphFileTest, ReadsFilesOfEarlierVersions) {
  absl::StatusOr<GraphFile> file = TryReadGraph("tests/io/graph/data/graph_v1.firn");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(Names(file->states), ElementsAre("count", "weight"));
  const StateDict states = std::move(file->states);
  StaticGraph graph = *StaticGraph::Compile(std::move(file->graph));
  const Tensor image = Ones({1, 1, 4, 4});
  EXPECT_EQ(states["count"].Item<int64_t>(), 7);
  EXPECT_THAT(graph(image).ToVector<float>(), ElementsAre(13.f, 17.5f, 14.5f, 19.f));
  EXPECT_EQ(states["count"].Item<int64_t>(), 8);
  graph(image);
  EXPECT_EQ(states["count"].Item<int64_t>(), 9);
}

// Convolutions and pooling when their attributes had a number for height and one for width, and the
// gradients; data/README.md says where it comes from.
TEST(GraphFileTest, ReadsOperationsOnImagesOfEarlierVersions) {
  absl::StatusOr<GraphFile> file = TryReadGraph("tests/io/graph/data/graph_v1_images.firn");
  ASSERT_TRUE(file.ok()) << file.status();
  const Tensor up = file->states["up"].Clone(), down = file->states["down"].Clone();
  StaticGraph graph = *StaticGraph::Compile(std::move(file->graph));
  Tensor x = Randn({1, 2, 9, 8});
  const TensorList got = graph.Call({&x, 1});

  const std::vector<Tensor> leaves = {x.SetRequiresGrad(), up.Detach().SetRequiresGrad(),
                                      down.Detach().SetRequiresGrad()};
  Tensor y = Conv2d(x, leaves[1], {}, {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}});
  y = MaxPool2d(y, {.kernel = {2, 3}, .stride = Sizes{1, 2}, .padding = {1, 1}, .ceil_mode = true});
  y = ConvTranspose2d(y, leaves[2], {},
                      {.stride = {2, 1}, .padding = {0, 1}, .output_padding = {1, 0}});
  y = AvgPool2d(
      y, {.kernel = {3, 2}, .stride = Sizes{2, 1}, .padding = {1, 0}, .count_include_pad = false});
  y = AdaptiveAvgPool2d(y, {2, 3});
  const std::vector<Tensor> gradients = Grad({y}, leaves, {.seeds = {y.Detach()}});
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(got[0].ToVector<float>(), y.ToVector<float>());
  for (size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_EQ(got[i + 1].ToVector<float>(), gradients[i].ToVector<float>()) << i;
  }
}

TEST(GraphFileTest, ACompiledGraphIsRefusedByName) {
  StaticGraph graph = Freeze([](const Tensor& x, const Tensor& y) { return Tanh(x * y); },
                             Ones({20000}), Ones({20000}));
  const absl::Status status = TrySaveGraph(TempPath("compiled.firn"), graph.graph());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("elementwise_program"));
}

// Ranks that load it find their world again, and no group of another process.
TEST(GraphFileTest, CollectivesOfTheWorldAreStored) {
  const Tensor x = Randn({4});
  StaticGraph loaded = RoundTrip(Freeze([](const Tensor& in) { return AllReduce(in); }, x));
  EXPECT_TRUE(loaded(x).Equals(x));
  const auto ranks = comm::ThreadRanks(1);
  const comm::Group group(*ranks.front());
  const StaticGraph graph =
      Freeze([&](const Tensor& in) { return AllReduce(in, {.group = group.number()}); }, x);
  const absl::Status saved = TrySaveGraph(TempPath("net.firn"), graph, {});
  EXPECT_THAT(std::string(saved.message()),
              HasSubstr("all_reduce is of group " + std::to_string(group.number()) +
                        " of ranks, a number of this process alone; save graphs of the world's "
                        "collectives (group 0)"));
}

}  // namespace
}  // namespace firn::io

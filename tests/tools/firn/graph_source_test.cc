// Networks of other frameworks in the commands that run graphs, and `firn nnp`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/io/parameters.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/io/onnx/onnx_builder.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"

namespace firn::cli {
namespace {

namespace onnx = io::internal;
using ::firn::io::TempPath;
using ::firn::io::WriteFile;
using ::testing::HasSubstr;

// relu(x) + w, of [batch, height, 2] and w = [1, 2].
std::string OnnxFile() {
  onnx::OnnxGraph graph =
      onnx::Graph({onnx::Node("Relu", {"x"}, {"r"}), onnx::Node("Add", {"r", "w"}, {"y"})}, {"x"},
                  {"y"}, {{"w", FromVector(std::vector<float>{1, 2}, {2})}});
  onnx::OnnxType& type = graph.inputs[0].type;
  type.kind = onnx::OnnxType::Kind::kTensor;
  type.element = onnx::OnnxElementOf(DType::kF32);
  type.shape.emplace();
  for (const char* name : {"batch", "height"})
    type.shape->push_back({.value = {}, .name = name, .denotation = {}});
  type.shape->push_back({.value = 2, .name = {}, .denotation = {}});
  const std::string path = TempPath("net.onnx");
  EXPECT_TRUE(onnx::WriteOnnxModel(path, onnx::Model(std::move(graph))).ok());
  return path;
}

// x W + b of [batch, 2], as executor "run" of network "n".
std::string NntxtFile() {
  const std::string path = TempPath("net.nntxt");
  WriteFile(path,
            "network { name: 'n' batch_size: 4\n"
            "variable { name: 'x' type: 'Buffer' shape { dim: [-1, 2] } }\n"
            "variable { name: 'y' type: 'Buffer' shape { dim: [-1, 1] } }\n"
            "variable { name: 'fc/W' type: 'Parameter' shape { dim: [2, 1] } }\n"
            "variable { name: 'fc/b' type: 'Parameter' shape { dim: 1 } }\n"
            "function { name: 'f' type: 'Affine' input: ['x', 'fc/W', 'fc/b'] output: 'y'\n"
            "affine_param { base_axis: 1 } } }\n"
            "executor { name: 'run' network_name: 'n' data_variable { variable_name: 'x' }\n"
            "output_variable { variable_name: 'y' } }\n"
            "parameter { variable_name: 'fc/W' shape { dim: [2, 1] } data: [1, 2] }\n"
            "parameter { variable_name: 'fc/b' shape { dim: 1 } data: 3 }\n");
  return path;
}

nlohmann::json Infer(std::vector<std::string> line) {
  line.insert(line.begin(), "infer");
  line.insert(line.end(), {"--input", "1", "--json"});
  const Outcome o = Firn(line);
  EXPECT_EQ(o.status, 0) << o.err;
  return o.status == 0 ? nlohmann::json::parse(o.out)["outputs"][0] : nlohmann::json();
}

TEST(GraphSourceTest, RunsNetworksOfTheSizesThatAreSaid) {
  const nlohmann::json y = Infer({OnnxFile(), "--batch", "2", "--dim", "height=1"});
  EXPECT_EQ(y["shape"], nlohmann::json({2, 1, 2}));
  EXPECT_EQ(y["elements"], nlohmann::json({2, 3, 2, 3}));
  EXPECT_EQ(Infer({OnnxFile(), "--dim", "height=3"})["shape"], nlohmann::json({1, 3, 2}));
  EXPECT_EQ(Infer({OnnxFile(), "--dim", "batch=3", "--dim", "height=1"})["shape"],
            nlohmann::json({3, 1, 2}));
  EXPECT_EQ(Infer({NntxtFile()})["shape"], nlohmann::json({4, 1}));
  const nlohmann::json of_two = Infer({NntxtFile(), "--batch", "2", "--network", "run"});
  EXPECT_EQ(of_two["elements"], nlohmann::json({6, 6}));
}

TEST(GraphSourceTest, SaysWhichSizesAreMissingOrWrong) {
  const auto error = [](const std::vector<std::string>& line, int status) {
    std::vector<std::string> all = {"infer"};
    all.insert(all.end(), line.begin(), line.end());
    all.push_back("--input=1");
    const Outcome o = Firn(all);
    EXPECT_EQ(o.status, status) << o.out;
    return o.err;
  };
  EXPECT_THAT(error({OnnxFile()}, 1),
              HasSubstr("leaves sizes open: say them by --dim height=SIZE"));
  EXPECT_THAT(error({OnnxFile(), "--dim=height=2", "--dim=width=2"}, 2),
              HasSubstr("--dim width: " + OnnxFile() + " leaves no such size open"));
  EXPECT_THAT(error({OnnxFile(), "--dim=height"}, 2), HasSubstr("expected NAME=SIZE"));
  EXPECT_THAT(error({OnnxFile(), "--dim=height=1", "--dim=height=2"}, 2), HasSubstr("says twice"));
  EXPECT_THAT(error({NntxtFile(), "--network", "other"}, 1),
              HasSubstr("expected an executor or a network called \"other\", got \"run\", \"n\""));
  const std::string firn = TempPath("own.firn");
  io::SaveGraph(firn, Freeze([](const Tensor& x) { return Relu(x); }, Ones({2})));
  EXPECT_THAT(error({firn, "--batch", "2"}, 2), HasSubstr("whose sizes it says"));
}

TEST(GraphSourceTest, NetworksBecomeGraphsAndWeights) {
  const std::string graph = TempPath("net.firn"), weights = TempPath("net.safetensors");
  EXPECT_EQ(Firn({"convert", NntxtFile(), graph, "--batch=2", "--force"}).status, 0);
  const Tensor x = FromVector(std::vector<float>{1, 0, 0, 1}, {2, 2});
  EXPECT_EQ(io::LoadGraph(graph)(x).ToVector<float>(), (std::vector<float>{4, 5}));
  EXPECT_EQ(io::Load(graph).Find("fc.W")->ToVector<float>(), (std::vector<float>{1, 2}));
  for (const std::string& from : {NntxtFile(), OnnxFile()}) {
    EXPECT_THAT(Firn({"convert", from, weights, "--force"}).err, HasSubstr("holds a graph"));
    EXPECT_EQ(Firn({"convert", from, weights, "--weights", "--force"}).status, 0);
    EXPECT_GE(io::Load(weights).size(), 1u);
  }
  EXPECT_EQ(io::Load(OnnxFile())["w"].ToVector<float>(), (std::vector<float>{1, 2}));
}

TEST(GraphSourceTest, OtherCommandsTakeThem) {
  EXPECT_EQ(Firn({"profile", NntxtFile(), "--runs=2"}).status, 0);
  const std::string dot = TempPath("net.dot"), csv = TempPath("x.csv");
  EXPECT_EQ(Firn({"draw-graph", NntxtFile(), "-o", dot}).status, 0);
  WriteFile(csv, "x__0,x__1\n1,2\n3,4\n5,6\n");
  const Outcome o = Firn({"forward", NntxtFile(), csv, "--batch=2", "--scale=1"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("20"));  // 5 + 2 * 6 + 3
  EXPECT_THAT(Firn({"inspect", OnnxFile()}).out, HasSubstr("FLOAT [batch, height, 2]"));
  EXPECT_THAT(Firn({"inspect", NntxtFile()}).out, HasSubstr("executor: run"));
}

// A saved graph has states; the command line treats them as constants.
TEST(GraphSourceTest, WeightsAreLaidOutOnce) {
  const std::string path = TempPath("conv.firn");
  const NoGradScope no_grad;
  const Tensor weight = Randn({32, 32, 3, 3}), x = Ones({1, 32, 9, 9});
  io::SaveGraph(path, Freeze([&](const Tensor& in) { return Conv2d(in, weight, {}); }, x));
  EXPECT_THAT(Firn({"profile", path, "--runs=1"}).out, HasSubstr("conv_packed"));
  const Outcome o = Firn({"infer", path, "--input=1", "--json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const nlohmann::json elements = nlohmann::json::parse(o.out)["outputs"][0]["elements"];
  EXPECT_EQ(elements.get<std::vector<float>>(), Conv2d(x, weight, {}).ToVector<float>());
}

TEST(GraphSourceTest, NnpInfoAndUnpack) {
  const std::string nnp = TempPath("net.nnp"), folder = TempPath("unpacked");
  std::filesystem::remove_all(folder);
  io::SaveNnabla(nnp, io::LoadNnabla(NntxtFile()));
  const Outcome info = Firn({"nnp", "info", nnp, "--json"});
  EXPECT_EQ(info.status, 0) << info.err;
  const nlohmann::json value = nlohmann::json::parse(info.out);
  EXPECT_EQ(value["networks"][0]["functions"]["Affine"], 1);
  EXPECT_EQ(value["executors"][0]["inputs"][0], "x [-1, 2]");
  EXPECT_EQ(value["elements"], 3);
  EXPECT_THAT(Firn({"nnp", "info", nnp}).out, HasSubstr("executor run"));
  EXPECT_EQ(Firn({"nnp", "unpack", nnp, folder}).status, 0);
  EXPECT_EQ(io::LoadNnabla(folder + "/network.nntxt").networks[0].name, "n");
  EXPECT_EQ(io::Load(folder + "/parameter.h5")["fc.b"].Item<float>(), 3);
  EXPECT_THAT(Firn({"nnp", "unpack", nnp, folder}).err, HasSubstr("expected no file, got one"));
}

}  // namespace
}  // namespace firn::cli

// `firn nnp infer` on an affine function whose results are known.
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "firn/tests/io/test_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/firn/firn_command.h"

namespace firn::cli {
namespace {

using ::testing::HasSubstr;

// y = [x0 + 2 x1 + 1, 3 x0 + 4 x1], z = x + 1.
const char* const kModel = R"(
network { name: "n" batch_size: 3
  variable { name: "x" type: "Buffer" shape { dim: -1 dim: 2 } }
  variable { name: "y" type: "Buffer" shape { dim: -1 dim: 2 } }
  variable { name: "z" type: "Buffer" shape { dim: -1 dim: 2 } }
  variable { name: "W" type: "Parameter" shape { dim: 2 dim: 2 } }
  variable { name: "b" type: "Parameter" shape { dim: 2 } }
  function { name: "f" type: "Affine" input: "x" input: "W" input: "b" output: "y"
    affine_param { base_axis: 1 } }
  function { name: "g" type: "AddScalar" input: "x" output: "z" add_scalar_param { val: 1 } }
}
executor { name: "run" network_name: "n" data_variable { variable_name: "x" data_name: "x" }
  output_variable { variable_name: "y" } output_variable { variable_name: "z" } }
parameter { variable_name: "W" shape { dim: 2 dim: 2 } data: [1, 3, 2, 4] }
parameter { variable_name: "b" shape { dim: 2 } data: [1, 0] }
)";

template <class T>
std::string File(const std::string& name, const std::vector<T>& elements) {
  const std::string path = io::TempPath(name);
  io::WriteFile(path, std::string(reinterpret_cast<const char*>(elements.data()),
                                  elements.size() * sizeof(T)));
  return path;
}

std::string ModelFile(const std::string& text = kModel) {
  const std::string path = io::TempPath("model.nntxt");
  io::WriteFile(path, text);
  return path;
}

nlohmann::json Outputs(const std::vector<std::string>& more) {
  std::vector<std::string> line = {"nnp", "infer", ModelFile(), "--json"};
  line.insert(line.end(), more.begin(), more.end());
  const Outcome outcome = Firn(line);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.status == 0 ? nlohmann::json::parse(outcome.out)["outputs"] : nlohmann::json();
}

TEST(NnpInferTest, TakesFilesOfBareElements) {
  const nlohmann::json want = {{6, 11, 2, 3}};
  EXPECT_EQ(Outputs({File<float>("x.bin", {1, 2})}), want);
  EXPECT_EQ(Outputs({File<int32_t>("x.bin", {1, 2}), "-t", "int32"}), want);
  EXPECT_EQ(Outputs({File<uint8_t>("x.bin", {1, 2}), "-t", "uint8"}), want);
}

// NNabla's converter makes networks from ONNX models that begin with parameters.
TEST(NnpInferTest, NeedsNoFilesForANetworkOfParameters) {
  const std::string model = ModelFile(R"(
network { name: "n"
  variable { name: "x" type: "Parameter" shape { dim: 1 dim: 2 } }
  variable { name: "y" type: "Buffer" shape { dim: 1 dim: 2 } }
  function { name: "f" type: "Abs" input: "x" output: "y" }
}
executor { name: "run" network_name: "n" output_variable { variable_name: "y" }
  parameter_variable { variable_name: "x" } }
parameter { variable_name: "x" shape { dim: 1 dim: 2 } data: [-1, 2] }
)");
  const Outcome outcome = Firn({"nnp", "infer", model});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "1 2\n");
}

TEST(NnpInferTest, WritesAFileForEachSample) {
  const std::string prefix = io::TempPath("scores");
  const nlohmann::json paths =
      Outputs({File<float>("x.bin", {1, 2, 0, 0, -1, 1}), "-b", "-1", "-o", prefix});
  ASSERT_EQ(paths.size(), 3u);
  EXPECT_EQ(paths[2], prefix + "_2.bin");
  const std::string bytes = io::ReadFile(prefix + "_2.bin");
  std::vector<float> elements(4);
  ASSERT_EQ(bytes.size(), 4 * sizeof(float));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  EXPECT_EQ(elements, (std::vector<float>{2, 1, 0, 2}));
}

TEST(NnpInferTest, RunsAsOftenAsTheExecutorSays) {
  const auto outputs = [](const std::string& type) {
    const std::string text = absl::StrReplaceAll(kModel, {{"name: \"run\"",
                                                           "name: \"run\" num_evaluations: 3 "
                                                           "repeat_evaluation_type: \"" +
                                                               type + "\""}});
    const Outcome outcome = Firn({"nnp", "infer", ModelFile(text), File<float>("x.bin", {1, 2})});
    return outcome.out;
  };
  EXPECT_EQ(outputs("mean"), "6 11 2 3\n");
  EXPECT_EQ(outputs("last"), "6 11 2 3\n");
  EXPECT_EQ(outputs("std"), "0 0 0 0\n");
}

TEST(NnpInferTest, SaysWhatIsWrong) {
  const auto error = [](const std::vector<std::string>& more, const std::string& text = kModel) {
    std::vector<std::string> line = {"nnp", "infer", ModelFile(text)};
    line.insert(line.end(), more.begin(), more.end());
    const Outcome outcome = Firn(line);
    EXPECT_NE(outcome.status, 0);
    return outcome.err;
  };
  const std::string x = File<float>("x.bin", {1, 2});
  EXPECT_THAT(error({x, x}), HasSubstr("expected 1 files of inputs (\"x\"), got 2"));
  EXPECT_THAT(error({x, "-b", "2"}),
              HasSubstr("expected 16 bytes, f32 [2, 2] for variable \"x\", got 8"));
  EXPECT_THAT(error({x, "-t", "f16"}), HasSubstr("--data_type is f16: expected uint8, int32 or"));
  EXPECT_THAT(error({x, "-p", File<float>("none.h5", {})}), HasSubstr("none.h5"));
  EXPECT_THAT(error({x}, absl::StrReplaceAll(kModel, {{"variable_name: \"W\"",
                                                       "variable_name: "
                                                       "\"V\""}})),
              HasSubstr("expected the parameters \"W\" in the file"));
  EXPECT_THAT(error({x}, absl::StrReplaceAll(
                             kModel, {{"name: \"run\"", "name: \"run\" num_evaluations: -1"}})),
              HasSubstr("executor \"run\", num_evaluations: expected 0 to 1000000, got -1"));
  EXPECT_THAT(error({x}, "network { name: \"n\" }"), HasSubstr("executor: expected at least one"));
}

}  // namespace
}  // namespace firn::cli

// Texts made by hand: what is read, and each form that is refused.
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::StatusOr<nnabla::Model> Parse(const std::string& text, const LoadLimits& limits = {}) {
  return TryParseNnabla(text, "x.nntxt", {.limits = limits});
}

std::string ErrorOf(const std::string& text, const LoadLimits& limits = {}) {
  return std::string(Parse(text, limits).status().message());
}

nnabla::Network NetworkOf(const std::string& text) {
  const absl::StatusOr<nnabla::Model> model = Parse("network { " + text + " }");
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() && model->networks.size() == 1 ? model->networks[0] : nnabla::Network();
}

template <class T>
T ArgumentOf(const nnabla::Function& function, const std::string& name) {
  for (const auto& argument : function.arguments) {
    if (argument.name == name) return std::get<T>(argument.value);
  }
  ADD_FAILURE() << "no argument " << name;
  return T();
}

TEST(NnablaTextTest, ReadsEachWayToWriteAMessage) {
  for (const char* text : {"variable { name: \"a\" shape { dim: 2 dim: -3 } }",
                           "variable: < name: 'a', shape: < dim: [2, -0x3] > >;",
                           "variable [{name:\"a\"shape{dim:[]dim:02;dim:-3}}] # and no more {"
                           "\n"}) {
    const nnabla::Network network = NetworkOf(text);
    ASSERT_EQ(network.variables.size(), 1u) << text;
    EXPECT_EQ(network.variables[0].name, "a");
    EXPECT_THAT(network.variables[0].shape, ElementsAre(2, -3));
  }
  // Pieces of one message.
  const auto model = Parse("training_config { max_epoch: 3 } training_config { save_best: t }");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->training_config->max_epoch, 3);
  EXPECT_TRUE(model->training_config->save_best);
}

TEST(NnablaTextTest, ReadsNumbers) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const auto& [text, value] : std::vector<std::pair<std::string, float>>{{"1", 1.0f},
                                                                              {".5", 0.5f},
                                                                              {"1.", 1.0f},
                                                                              {"1e-05", 1e-5f},
                                                                              {"2.5f", 2.5f},
                                                                              {"-1E+2", -100.0f},
                                                                              {"- 3", -3.0f},
                                                                              {"010", 10.0f},
                                                                              {"1e400", kInf},
                                                                              {"-INF", -kInf},
                                                                              {"infinity", kInf},
                                                                              {"1e39", kInf}}) {
    const nnabla::Network n = NetworkOf("variable { initializer { multiplier: " + text + " } }");
    ASSERT_EQ(n.variables.size(), 1u) << text;
    EXPECT_EQ(n.variables[0].initializer->multiplier, value) << text;
  }
  EXPECT_TRUE(std::isnan(NetworkOf("variable { initializer { multiplier: NaN } }")
                             .variables[0]
                             .initializer->multiplier));
  EXPECT_EQ(NetworkOf("batch_size: -9223372036854775808").batch_size,
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(NetworkOf("batch_size: 0x7fffffffffffffff").batch_size,
            std::numeric_limits<int64_t>::max());
}

TEST(NnablaTextTest, ReadsStrings) {
  EXPECT_EQ(NetworkOf(R"(name: "a\n\t\"\'\\\101\x42\u00e4\U0001F600" 'b"' "")").name,
            "a\n\t\"'\\AB\u00e4\U0001F600b\"");
  EXPECT_EQ(NetworkOf("name: \"\\303\\244\"").name, "\u00e4");
}

TEST(NnablaTextTest, GivesArgumentsAllThatNnablaHas) {
  const nnabla::Network network = NetworkOf(R"(
    function { name: "c" type: "Convolution" input: "x" input: "W" output: "y"
      convolution_param { base_axis: 1 pad { dim: 2 dim: 2 } group: 3 } }
    function { type: "Affine" }
    function { type: "ReLU" relu_param { inplace: true } }
    function { type: "AddScalar" add_scalar_param { val: 0.1 } }
    function { type: "BatchNormalization" batch_normalization_param { axes: 1 eps: 0.1 } }
    function { type: "Einsum" einsum_param { equation: "ij,jk" } }
    function { type: "RandomErase" random_erase_param { area_ratios: [0.5, 1] } }
    function { type: "SyncBatchNormalization" sync_batch_normalization_param { comm {} eps: 1 } }
    function { type: "Round" round_param { } } function { type: "GELU" }
    function { type: "RepeatStart" repeat_param { repeat_id: "r" times: 2 } })");
  ASSERT_EQ(network.functions.size(), 11u);
  const nnabla::Function& c = network.functions[0];
  std::vector<std::string> names;
  for (const auto& argument : c.arguments) names.push_back(argument.name);
  EXPECT_THAT(names,
              ElementsAre("base_axis", "pad", "stride", "dilation", "group", "channel_last"));
  EXPECT_THAT(ArgumentOf<std::vector<int64_t>>(c, "pad"), ElementsAre(2, 2));
  EXPECT_EQ(ArgumentOf<int64_t>(c, "group"), 3);
  EXPECT_FALSE(ArgumentOf<bool>(c, "channel_last"));
  EXPECT_EQ(ArgumentOf<int64_t>(network.functions[1], "base_axis"), 0);  // the default is 1
  EXPECT_EQ(ArgumentOf<double>(network.functions[3], "val"), 0.1);
  EXPECT_EQ(ArgumentOf<float>(network.functions[4], "eps"), 0.1f);
  EXPECT_EQ(ArgumentOf<std::string>(network.functions[5], "equation"), "ij,jk");
  EXPECT_THAT(ArgumentOf<std::vector<float>>(network.functions[6], "area_ratios"),
              ElementsAre(0.5f, 1.0f));
  EXPECT_EQ(ArgumentOf<float>(network.functions[7], "eps"), 1.0f);
  EXPECT_TRUE(network.functions[9].arguments.empty());
  EXPECT_EQ(network.functions[10].repeat_param->times, 2);
}

TEST(NnablaTextTest, ReadsSolversAndParameters) {
  const auto model = Parse(R"(
    optimizer { name: "o" solver { type: "Adam" adam_param { alpha: 0.5 } lr_scheduler_type: "Step"
      step_scheduler_param { gamma: 0.5 iter_steps: 10 iter_steps: 20 }
      states { key: "c/W" value { t: 7 state_parameter { key: "mean" value {
        shape { dim: 2 } data: 1 data: 2 } } } } } }
    parameter { variable_name: "c/W" shape { dim: 1 dim: 2 } data: [1, 2.5] need_grad: True }
    parameter { variable_name: "s" shape { } data: 3 })");
  ASSERT_TRUE(model.ok()) << model.status();
  const nnabla::Solver& solver = *model->optimizers[0].solver;
  EXPECT_EQ(std::get<float>(solver.arguments[0].value), 0.5f);
  EXPECT_THAT(solver.step_scheduler->iter_steps, ElementsAre(10, 20));
  EXPECT_EQ(solver.states[0].t, 7u);
  EXPECT_EQ(solver.states[0].parameter, "c.W");
  EXPECT_THAT(solver.states[0].state[0].data, ElementsAre(1, 2));
  EXPECT_THAT(model->parameters["c.W"].ToVector<float>(), ElementsAre(1, 2.5));
  EXPECT_EQ(model->parameters["c.W"].shape(), (Shape{1, 2}));
  EXPECT_TRUE(model->parameters["c.W"].requires_grad());
  EXPECT_EQ(model->parameters["s"].rank(), 0);
  EXPECT_FALSE(model->parameters["s"].requires_grad());
}

TEST(NnablaTextTest, RefusesByNameWhatIsNoText) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"network {\n  name \"a\" }", "line 2, column 8, network.name: expected a colon, got "},
           {"network {\n  nmae: 1 }",
            "line 2, column 3, network: expected a field of Network, got "
            "\"nmae\""},
           {"batchSize: 1", "line 1, column 1: expected a field of NNablaProtoBuf, got"},
           {"\xef\xbb\xbfnetwork {}", "line 1, column 1: expected a field's name, got"},
           {"1: 2", "expected a field's name, got \"1\""},
           {"[a.b]: 2", "expected a field's name, got \"[\""},
           {"network {", "column 10, network: expected a field's name or }, got the end"},
           {"network { }}", "expected a field's name, got \"}\""},
           {"network { >", "expected a field's name or }, got \">\""},
           {"network < }", "expected a field's name or >, got \"}\""},
           {"network { },,", "expected a field's name, got \",\""},
           {"network: 1", "network: expected {, got \"1\""},
           {"version: 1", "version: expected a string, got \"1\""},
           {"version: \"a\nb\"", "expected a quote at the end of the string on its line"},
           {"version: \"a\\", "expected a quote at the end"},
           {"version: \"\\q\"", "version: expected an escape, got \\q"},
           {"version: \"\\777\"", "expected \\0 to \\377"},
           {"version: \"\\xg\"", "expected hexadecimal digits behind \\x"},
           {"version: \"\\u12\"", "expected 4 hexadecimal digits of a code point behind \\u"},
           {"version: \"\\U00110000\"", "expected 8 hexadecimal digits of a code point"},
           {"version: \"\\xff\"", "version: expected UTF-8, got"},
           {"version: \"\\ud800\"", "version: expected UTF-8, got"},
           {"version: \"a\" version: \"a\"", "version: expected it once, got it twice"},
           {"version: [\"a\"]", "version: expected a string, got \"[\""},
           {"network { batch_size: 1.0 }",
            "network.batch_size: expected a whole number from -2^63"},
           {"network { batch_size: 9223372036854775808 }", "expected a whole number"},
           {"network { batch_size: -9223372036854775809 }", "expected a whole number"},
           {"network { batch_size: 08 }", "expected a whole number"},
           {"network { batch_size: 0x }", "expected a whole number"},
           {"network { batch_size: 1a }", "expected a whole number"},
           {"network { batch_size: }", "expected a whole number"},
           {"network { variable { shape { dim: [1 2] } } }",
            "network.variable.shape.dim: expected a comma or ], got \"2\""},
           {"network { variable { shape { dim: [1,] } } }", "expected a whole number"},
           {"training_config { save_best: 2 }",
            "training_config.save_best: expected true or false"},
           {"training_config { save_best: TRUE }", "expected true or false, got \"TRUE\""},
           {"optimizer { solver { weight_decay: 0x1 } }",
            "optimizer.solver.weight_decay: expected a number, got \"0x1\""},
           {"optimizer { solver { weight_decay: 1e } }", "expected a number"},
           {"optimizer { solver { weight_decay: ff } }", "expected a number"},
           {"optimizer { solver { states { value { t: -1 } } } }",
            "optimizer.solver.states.value.t: expected a whole number from 0 to 2^32 - 1"}}) {
    const absl::StatusOr<nnabla::Model> model = Parse(text);
    EXPECT_EQ(model.status().code(), absl::StatusCode::kDataLoss) << text;
    EXPECT_THAT(ErrorOf(text), StartsWith("x.nntxt: line ")) << text;
    EXPECT_THAT(ErrorOf(text), HasSubstr(expected)) << text;
  }
}

TEST(NnablaTextTest, RefusesWhatCanBeTakenInTwoWays) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"training_config { max_epoch: 1 } training_config { max_epoch: 1 }",
            "training_config.max_epoch: expected it once, got it twice"},
           {"network { function { relu_param {} elu_param {} } }",
            "network.function.elu_param: expected one of its kind, got another beside relu_param"},
           {"network { name: \"n\" function { name: \"f\" type: \"ReLU\" elu_param {} } }",
            "network \"n\", function 0 (\"f\"): type \"ReLU\": expected relu_param, got elu_param"},
           {"network { function { type: \"GELU\" elu_param {} } }",
            "type \"GELU\": expected none, as it takes no arguments, got elu_param"},
           {"network { function { type: \"Mine\" elu_param {} } }",
            "type \"Mine\": expected none, as there is no such type in NNabla 1.39"},
           {"optimizer { name: \"o\" solver { type: \"Sgd\" adam_param {} } }",
            "optimizer \"o\": type \"Sgd\": expected sgd_param, got adam_param"},
           {"network {} network {}", "network \"\": expected different names, got it twice"},
           {"network { variable { name: \"v\" } variable { name: \"v\" } }",
            "variable \"v\": expected different names, got it twice"},
           {"parameter { variable_name: \"p\" data: 1 } parameter { variable_name: \"p\" data: 1 }",
            "parameter \"p\": expected different names, got it twice"},
           {"parameter { variable_name: \"p\" shape { dim: 2 } data: 1 }",
            "parameter \"p\": data: expected 2 numbers as the shape says, got 1"},
           {"parameter { variable_name: \"p\" shape { dim: -1 } }",
            "shape: expected no size below 0"},
           {"optimizer { solver { states { key: \"a\" } states { key: \"a\" } } }",
            "solver.states, \"a\": expected different keys, got it twice"}}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr(expected)) << text;
  }
}

TEST(NnablaTextTest, KeepsToItsLimits) {
  const std::string text = "network { name: \"abcdef\" variable {} } parameter { data: 1 }";
  EXPECT_EQ(ErrorOf(text), "");
  EXPECT_THAT(ErrorOf(text, {.max_name_bytes = 5}), HasSubstr("limits.max_name_bytes"));
  EXPECT_THAT(ErrorOf(text, {.max_depth = 1}), HasSubstr("limits.max_depth"));
  EXPECT_THAT(ErrorOf(text, {.max_metadata_bytes = 20}), HasSubstr("limits.max_metadata_bytes"));
  EXPECT_THAT(ErrorOf(text, {.max_total_bytes = 3}), HasSubstr("limits.max_total_bytes"));
  EXPECT_THAT(ErrorOf(text, {.max_tensors = 0}), HasSubstr("limits.max_tensors"));
  // Texts that need more memory than they are long.
  std::string many;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&many, "executor{}");
  EXPECT_THAT(ErrorOf(many, {.max_metadata_bytes = 20'000}),
              HasSubstr("messages of more than the 20000 bytes"));
  many = "network {";
  for (int i = 0; i < 100; ++i) many += "function{type:'ImageAugmentation'}";
  EXPECT_THAT(ErrorOf(many + "}", {.max_metadata_bytes = 100'000}),
              HasSubstr("messages of more than the 100000 bytes"));
  // Time grows as the text does.
  many.clear();
  for (int i = 0; i < 200'000; ++i) many += "executor { name: 'a' }\n";
  EXPECT_EQ(ErrorOf(many), "");
  // Braces in braces end where types do.
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "network{";
  EXPECT_THAT(ErrorOf(deep), HasSubstr("network: expected a field of Network"));
}

}  // namespace
}  // namespace firn::io

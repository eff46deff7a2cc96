// Loops, with the names that NNabla's own loader gives copies (core/graph_def.py), and the batch.
#include "firn/io/nnabla_model/nnabla_expand.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

nnabla::Network NetworkOf(const std::string& text) {
  auto model = TryParseNnabla("network { name: 'n' " + text + " }", "x.nntxt");
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? model->networks[0] : nnabla::Network();
}

std::string Buffer(const std::string& name, const std::string& more = "") {
  return absl::StrCat("variable { name: '", name, "' type: 'Buffer' shape { dim: [-1, 3] } ", more,
                      " }\n");
}

std::string Parameter(const std::string& name, const std::string& more = "") {
  return absl::StrCat("variable { name: '", name, "' type: 'Parameter' shape { dim: 3 } ", more,
                      " }\n");
}

std::string Function(const std::string& type, const std::string& in, const std::string& out,
                     const std::string& more = "") {
  return absl::StrCat("function { name: '", type, "' type: '", type, "' input: [", in,
                      "] output: [", out, "] ", more, " }\n");
}

// A line for each function: "name (Type) inputs -> outputs".
std::vector<std::string> Lines(const nnabla::Network& network) {
  std::vector<std::string> lines;
  for (const nnabla::Function& f : network.functions) {
    lines.push_back(absl::StrCat(f.name, " (", f.type, ") ", absl::StrJoin(f.input, ","), " -> ",
                                 absl::StrJoin(f.output, ",")));
  }
  return lines;
}

std::string ErrorOf(const std::string& text, const nnabla::ExpandOptions& options = {}) {
  return std::string(nnabla::TryExpand(NetworkOf(text), options).status().message());
}

const char* const kLoop = "repeat_id: 'a'";

std::string Repeated(int64_t times) {
  const std::string loop = "repeat_param { repeat_id: 'a' times: 3 } ";
  return absl::StrCat("batch_size: 4 repeat_info { id: 'a' times: ", times, " }\n", Buffer("x"),
                      Buffer("h", kLoop), Buffer("y", kLoop), Buffer("z"), Parameter("w{a}", kLoop),
                      Parameter("b", kLoop), Parameter("c"),
                      Function("RepeatStart", "'x', 'y'", "'h'", loop + kLoop),
                      Function("AddN", "'h', 'w{a}', 'b', 'c'", "'y'", kLoop),
                      Function("RepeatEnd", "'y'", "'z'", loop));
}

TEST(NnablaExpandTest, RepeatsFeedEachTimeWithTheOneBefore) {
  const nnabla::Network network = nnabla::Expand(NetworkOf(Repeated(2)));
  EXPECT_THAT(Lines(network), ElementsAre("$EC$/RepeatStart_a[0] (Identity) x -> h_a[0]",
                                          "AddN_a[0] (AddN) h_a[0],w[0],b_a[0],c -> y_a[0]",
                                          "$EC$/RepeatStart_a[1] (Identity) y_a[0] -> h_a[1]",
                                          "AddN_a[1] (AddN) h_a[1],w[1],b_a[1],c -> y_a[1]",
                                          "$EC$/RepeatEnd (Identity) y_a[1] -> z"));
  EXPECT_TRUE(network.repeat_info.empty());
  ASSERT_EQ(network.variables.size(), 11u);
  EXPECT_EQ(network.variables[1].name, "h_a[0]");
  EXPECT_THAT(network.variables[1].shape, ElementsAre(4, 3));
}

TEST(NnablaExpandTest, RecurrencesGoThroughSteps) {
  const std::string loop = "recurrent_param { repeat_id: 'a' length: 3 axis: 1 } ";
  const nnabla::Network network = nnabla::Expand(
      NetworkOf(absl::StrCat("repeat_info { id: 'a' times: 3 }\n", Buffer("x"), Buffer("s", kLoop),
                             Buffer("d", kLoop), Buffer("y", kLoop), Buffer("start"), Buffer("z"),
                             Function("RecurrentOutput", "'y'", "'z'", loop),
                             Function("RecurrentInput", "'x'", "'s'", loop + kLoop),
                             Function("Delay", "'y', 'start'", "'d'", loop + kLoop),
                             Function("Add2", "'s', 'd'", "'y'", kLoop))),
      {.batch_size = 2});
  EXPECT_THAT(Lines(network), ElementsAre("RecurrentInput (Split) x -> s_a[0],s_a[1],s_a[2]",
                                          "$EC$/Delay_a[0] (Identity) start -> d_a[0]",
                                          "Add2_a[0] (Add2) s_a[0],d_a[0] -> y_a[0]",
                                          "$EC$/Delay_a[1] (Identity) y_a[0] -> d_a[1]",
                                          "Add2_a[1] (Add2) s_a[1],d_a[1] -> y_a[1]",
                                          "$EC$/Delay_a[2] (Identity) y_a[1] -> d_a[2]",
                                          "Add2_a[2] (Add2) s_a[2],d_a[2] -> y_a[2]",
                                          "RecurrentOutput (Stack) y_a[0],y_a[1],y_a[2] -> z"));
  EXPECT_EQ(std::get<int64_t>(network.functions[0].arguments[0].value), 1);
}

TEST(NnablaExpandTest, TheBatchIsChosenInShapesAndArguments) {
  const std::string text =
      Buffer("x") + Buffer("y") +
      Function("Reshape", "'x'", "'y'", "reshape_param { shape { dim: [-1, 3] } }");
  const nnabla::Network network =
      nnabla::Expand(NetworkOf("batch_size: 64 " + text), {.batch_size = 5});
  EXPECT_THAT(network.variables[0].shape, ElementsAre(5, 3));
  EXPECT_THAT(std::get<std::vector<int64_t>>(network.functions[0].arguments[0].value),
              ElementsAre(5, 3));
  EXPECT_EQ(network.batch_size, 5);
  EXPECT_THAT(ErrorOf(text), HasSubstr("network \"n\", variable \"x\", shape: its first size is "
                                       "the batch"));
}

TEST(NnablaExpandTest, RefusesLoopsBeforeItUnrollsThem) {
  EXPECT_THAT(ErrorOf(Repeated(int64_t{1} << 31)),
              HasSubstr("network \"n\", repeat_info \"a\", times: expected at most 10000 "
                        "(ExpandOptions.max_times), got 2147483648"));
  EXPECT_THAT(ErrorOf(Repeated(0)), HasSubstr("expected at least 1, got 0"));
  EXPECT_THAT(ErrorOf(Repeated(100), {.max_copies = 300}),
              HasSubstr("expected at most 300 copies of variables and functions"));
  EXPECT_THAT(ErrorOf(Repeated(100), {.max_bytes = 2000}), HasSubstr("ExpandOptions.max_bytes"));
  std::string loops, ids;
  for (int i = 0; i < 8; ++i) {
    loops += absl::StrCat("repeat_info { id: 'l", i, "' times: 10000 }\n");
    ids += absl::StrCat("repeat_id: 'l", i, "' ");
  }
  EXPECT_THAT(ErrorOf("batch_size: 1 " + loops + Buffer("x", ids)),
              HasSubstr("ExpandOptions.max_copies"));
  EXPECT_THAT(ErrorOf("batch_size: 1 " + loops + Buffer("x", ids + "repeat_id: 'l0'")),
              HasSubstr("expected at most 8 loops in each other (ExpandOptions.max_depth), got 9"));
}

TEST(NnablaExpandTest, NamesWhatDoesNotFit) {
  const std::string x = "batch_size: 1 " + Buffer("x") + Buffer("y") + Buffer("z");
  EXPECT_THAT(ErrorOf(x + Function("ReLU", "'x'", "'q'")),
              HasSubstr("network \"n\", function 0 \"ReLU\" (ReLU), output: expected a variable of "
                        "the network, got \"q\""));
  EXPECT_THAT(ErrorOf(x + Function("ReLU", "'x'", "'y'") + Function("Tanh", "'x'", "'y'")),
              HasSubstr("function 1 \"Tanh\" (Tanh), output: expected a variable of no other "
                        "function, got \"y\""));
  EXPECT_THAT(ErrorOf(x + Function("ReLU", "'y'", "'z'") + Function("Tanh", "'z'", "'y'")),
              HasSubstr("got a cycle"));
  EXPECT_THAT(ErrorOf(x + Buffer("v", "repeat_id: 'b'")),
              HasSubstr("repeat_id: expected the id of a repeat_info, got \"b\""));
  EXPECT_THAT(ErrorOf(x + Function("Delay", "'x', 'y'", "'z'")),
              HasSubstr("function 0 \"Delay\" (Delay), recurrent_param: expected one, got none"));
  EXPECT_THAT(
      ErrorOf("repeat_info { id: 'a' times: 4 } " + x +
              Function("RecurrentInput", "'x'", "'y'",
                       "repeat_id: 'a' recurrent_param { repeat_id: 'a' axis: 1 }")),
      HasSubstr("expected 4 steps, the loop's times, got 3, the size of \"x\" along axis 1"));
}

}  // namespace
}  // namespace firn::io

#include "firn/io/nnabla_model/nnabla_file.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/wire/internal/wire.h"
#include "firn/io/zip/internal/zip.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Members = std::vector<std::pair<std::string, std::string>>;

std::string Data(const std::string& name) { return "tests/io/nnabla_model/data/" + name; }

std::string Zip(const Members& members) {
  const std::string path = MemoryPath("made.nnp");
  auto out = inner::internal::AtomicFile::Create(path);
  internal::ZipWriter zip(&*out);
  for (const auto& [name, bytes] : members) EXPECT_TRUE(zip.Add(name, bytes, true).ok());
  EXPECT_TRUE(zip.Finish().ok() && out->Commit().ok());
  return ReadFile(path);
}

std::string ErrorOf(const std::string& bytes, const std::string& name,
                    const LoadOptions& options = {}) {
  return std::string(TryParseNnabla(bytes, name, options).status().message());
}

// The model without its parameters.
void ExpectTheDescription(const nnabla::Model& model) {
  EXPECT_EQ(model.global_config->default_context->array_class, "CpuCachedArray");
  EXPECT_EQ(model.training_config->max_epoch, 5);
  ASSERT_EQ(model.networks.size(), 2u);
  EXPECT_THAT(model.networks[0].variables[0].shape, ElementsAre(-1, 1, 8, 8));
  std::vector<std::string> types;
  for (const auto& function : model.networks[0].functions) types.push_back(function.type);
  EXPECT_THAT(types, ElementsAre("Convolution", "BatchNormalization", "MaxPooling", "ReLU",
                                 "Dropout", "Affine"));
  EXPECT_EQ(model.datasets[0].uri, "/no/such.csv");
  EXPECT_EQ(model.executors[0].output_variable[0].variable_name, "y");
  EXPECT_EQ(model.optimizers[0].loss_variable[0].variable_name, "loss");
  EXPECT_EQ(std::get<float>(model.optimizers[0].solver->arguments[0].value), 1e-3f);
}

void ExpectTheModel(const nnabla::Model& model) {
  ExpectTheDescription(model);
  ASSERT_EQ(model.parameters.size(), 8u);
  EXPECT_EQ(model.parameters[nnabla::ParameterName("c1/conv/W")].shape(), (Shape{2, 1, 3, 3}));
  EXPECT_TRUE(model.parameters["c1.conv.W"].requires_grad());
  EXPECT_FALSE(model.parameters["c1.bn.mean"].requires_grad());
}

void ExpectStates(const nnabla::Model& model) {
  const auto& states = model.optimizers[0].solver->states;
  ASSERT_EQ(states.size(), 6u);
  for (const auto& state : states) {
    EXPECT_EQ(state.t, 1u);
    EXPECT_EQ(state.state.size(), 2u);
    EXPECT_TRUE(model.parameters.Contains(state.parameter)) << state.parameter;
  }
}

TEST(NnablaFileTest, ReadsWhatNnablaWrites) {
  for (const char* name : {"h5.nnp", "protobuf.nnp"}) {
    const nnabla::Model model = LoadNnabla(Data(name));
    ExpectTheModel(model);
    ExpectStates(model);
  }
  ExpectTheModel(LoadNnabla(Data("bare.nntxt")));
  const nnabla::Model bare = LoadNnabla(Data("parameters.protobuf"));
  const nnabla::Model h5 = LoadNnabla(Data("h5.nnp"));
  ASSERT_EQ(bare.parameters.size(), 8u);
  for (const auto& [name, tensor] : bare.parameters) {
    EXPECT_EQ(tensor.ToVector<float>(), h5.parameters[name].ToVector<float>()) << name;
  }
  const nnabla::Model some = LoadNnabla(
      Data("protobuf.nnp"), {.want = [](std::string_view name) { return name.starts_with("f."); }});
  EXPECT_EQ(some.parameters.size(), 2u);
}

TEST(NnablaFileTest, WritesWhatItReads) {
  const std::string path = TempPath("copy.nnp"), again = TempPath("again.nnp");
  SaveNnabla(path, LoadNnabla(Data("protobuf.nnp")));
  const nnabla::Model model = LoadNnabla(path);
  ExpectTheModel(model);
  ExpectStates(model);
  SaveNnabla(again, model);
  EXPECT_EQ(ReadFile(path), ReadFile(again));
}

TEST(NnablaFileTest, WritesTheTextAlone) {
  const std::string path = TempPath("copy.nntxt");
  SaveNnabla(path, LoadNnabla(Data("h5.nnp")));
  const nnabla::Model text = LoadNnabla(path);
  ExpectTheDescription(text);
  EXPECT_TRUE(text.parameters.empty());
  EXPECT_TRUE(text.optimizers[0].solver->states.empty());
}

TEST(NnablaFileTest, WritesParametersAlone) {
  const std::string path = TempPath("copy.protobuf"), again = TempPath("again.protobuf");
  const nnabla::Model model = LoadNnabla(Data("h5.nnp"));
  SaveNnabla(path, model);
  const nnabla::Model read = LoadNnabla(path);
  EXPECT_TRUE(read.networks.empty());
  ASSERT_EQ(read.parameters.size(), model.parameters.size());
  for (const auto& [name, tensor] : model.parameters) {
    EXPECT_TRUE(read.parameters[name].Equals(tensor)) << name;
    EXPECT_EQ(read.parameters[name].requires_grad(), tensor.requires_grad()) << name;
  }
  SaveNnabla(again, read);
  EXPECT_EQ(ReadFile(path), ReadFile(again));

  const auto saved = [&](const StateDict& state) {
    nnabla::Model of;
    of.parameters = state;
    return std::string(TrySaveNnabla(path, of).message());
  };
  EXPECT_EQ(saved({{"a.b", Full({}, 3).To(DType::kBF16)}, {"empty", Zeros({2, 0})}}), "");
  EXPECT_TRUE(LoadNnabla(path).parameters["a.b"].Equals(Full({}, 3.f)));
  EXPECT_EQ(LoadNnabla(path).parameters["empty"].shape(), Shape({2, 0}));
  const std::string before = ReadFile(path);
  EXPECT_THAT(
      saved({{"t", Full({}, 7).To(DType::kI64)}}),
      HasSubstr("parameter \"t\": expected f32, or f16 or bf16, which become that, got i64"));
  EXPECT_THAT(saved({{"\xff", Zeros({1})}}), HasSubstr("expected UTF-8"));
  EXPECT_EQ(ReadFile(path), before);
}

TEST(NnablaFileTest, RefusesToWriteWhatNnablaWouldNotRead) {
  const auto error = [](auto change) {
    nnabla::Model model = LoadNnabla(Data("h5.nnp"));
    change(&model);
    return std::string(TrySaveNnabla(TempPath("bad.nnp"), model).message());
  };
  EXPECT_THAT(error([](auto* m) { m->networks[0].functions[0].arguments[0].name = "axis"; }),
              HasSubstr("function 0 (\"@net/Convolution\"): Convolution has no argument \"axis\""));
  EXPECT_THAT(error([](auto* m) { m->networks[0].functions[0].arguments[0].value = true; }),
              HasSubstr("argument base_axis: expected a value of the type"));
  EXPECT_THAT(error([](auto* m) { m->networks[0].name = "\xff"; }), HasSubstr("UTF-8"));
  EXPECT_THAT(
      error([](auto* m) { m->networks[0].variables[0].name = "c1.conv/W"; }),
      HasSubstr("variable \"c1.conv/W\": expected the name of a parameter to have slashes"));
  EXPECT_THAT(error([](auto* m) { m->optimizers[0].solver->states[0].state[0].shape = {99}; }),
              HasSubstr("expected as many numbers as its shape says"));
  EXPECT_THAT(std::string(TrySaveNnabla(TempPath("x.txt"), {}).message()),
              HasSubstr("expected .nnp, .nntxt or .protobuf at the end of the name"));
}

TEST(NnablaFileTest, RefusesArchivesOfOtherMembers) {
  const std::string parameters = ReadFile(Data("parameters.protobuf"));
  EXPECT_EQ(ErrorOf(Zip({{"../../a.nntxt", "network{}"}, {"readme", "x"}}), "x.nnp"), "");
  EXPECT_THAT(ErrorOf(Zip({{"nnp_version.txt", "0.1"}}), "x.nnp"),
              HasSubstr("x.nnp: expected one member .nntxt or .prototxt, got 0"));
  EXPECT_THAT(ErrorOf(Zip({{"a.nntxt", ""}, {"b.prototxt", ""}}), "x.nnp"), HasSubstr("got 2"));
  EXPECT_THAT(ErrorOf(Zip({{"a.nntxt", "oops"}}), "x.nnp"),
              HasSubstr("x.nnp(a.nntxt): line 1, column 1: expected a field of"));
  EXPECT_THAT(
      ErrorOf(Zip({{"a.nntxt", ""}, {"a.protobuf", parameters}, {"b.protobuf", parameters}}),
              "x.nnp"),
      HasSubstr("x.nnp(b.protobuf): parameter \"c1.conv.W\": expected different names"));
  EXPECT_THAT(ErrorOf(Zip({{"a.nntxt", ""}, {"a.h5", "no"}}), "x.nnp"), HasSubstr("x.nnp(a.h5)"));
  EXPECT_THAT(
      ErrorOf(Zip({{"a.nntxt", ""}, {"o_Adam_optimizer.h5.optimizer", ""}}), "x.nnp"),
      HasSubstr("expected states of an optimizer of the text that has none yet, got \"o\""));
  EXPECT_THAT(ErrorOf(Zip({{"a.nntxt", ""}, {"optimizer.txt.optimizer", ""}}), "x.nnp"),
              HasSubstr("expected .h5.optimizer or .protobuf.optimizer"));
  Members many;
  for (int i = 0; i < 17; ++i) many.emplace_back(absl::StrCat(i), "");
  EXPECT_THAT(ErrorOf(Zip(many), "x.nnp"), HasSubstr("expected at most 16 members, got 17"));
  EXPECT_THAT(ErrorOf(Zip({{"a.nntxt", std::string(100'000, ' ')}}), "x.nnp",
                      {.limits = {.max_metadata_bytes = 99'999}}),
              HasSubstr("a text of more than the 99999 bytes allowed"));
  EXPECT_THAT(ErrorOf("hello", "x.nnp"), HasSubstr("not an .nnp file"));
  EXPECT_THAT(ErrorOf("hello", "x.txt"), HasSubstr("expected .nnp, .nntxt"));
}

TEST(NnablaFileTest, RefusesBytesThatAreNoMessages) {
  using internal::WireWriter;
  const auto error = [](const WireWriter& message) {
    return ErrorOf(message.bytes(), "x.protobuf");
  };
  const auto parameter = [&](const WireWriter& p) { return error(WireWriter().Message(200, p)); };
  EXPECT_THAT(error(WireWriter().Message(100, WireWriter())),
              HasSubstr("x.protobuf: offset 3, network: fields of networks have other numbers"));
  EXPECT_THAT(error(WireWriter().Integer(7, 1)),
              HasSubstr("offset 1: expected a field of NNablaProtoBuf, got the number 7"));
  EXPECT_THAT(error(WireWriter().Integer(1, 1)),
              HasSubstr("version: expected a value of the wire type 2, got 0"));
  EXPECT_THAT(error(WireWriter().Bytes(1, "a").Bytes(1, "b")),
              HasSubstr("version: expected it once, got it twice"));
  EXPECT_THAT(error(WireWriter().Bytes(1, "\xff")), HasSubstr("version: expected UTF-8"));
  EXPECT_THAT(parameter(WireWriter().Bytes(100, "abc")),
              HasSubstr("parameter.data: expected numbers of 4 bytes, got 3 bytes"));
  EXPECT_THAT(parameter(WireWriter().Message(20, WireWriter().Bytes(1, "\x81"))),
              HasSubstr("parameter.shape.dim: expected whole numbers"));
  EXPECT_THAT(parameter(WireWriter().Message(20, WireWriter().Integer(1, int64_t{1} << 62))),
              HasSubstr("parameter \"\""));
  // Numbers that are not packed.
  EXPECT_EQ(parameter(WireWriter()
                          .Message(20, WireWriter().Integer(1, 2))
                          .Float(100, 1)
                          .Float(100, 2)
                          .Integer(101, 1)),
            "");
  EXPECT_THAT(ErrorOf("\x0a\x05", "x.protobuf"), HasSubstr("x.protobuf: in the message at 0"));
}

TEST(NnablaFileTest, RefusesFilesThatAreCut) {
  for (const char* name : {"h5.nnp", "protobuf.nnp", "parameters.protobuf", "bare.nntxt"}) {
    const std::string whole = ReadFile(Data(name));
    int read = 0;
    for (size_t n = 0; n < whole.size(); n += n < 700 ? 1 : 31) {
      read += TryParseNnabla(whole.substr(0, n), Data(name)).ok();
    }
    // A text or a message may be cut off at the end of one of its fields.
    const bool archive = std::string_view(name).ends_with(".nnp");
    EXPECT_LE(read, archive ? 0 : 20) << name;
  }
}

}  // namespace
}  // namespace firn::io

// `firn convert` between files of weights, and between graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/formats/formats.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_contents.h"
#include "firn/io/graph/save.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/io/parameters.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"

namespace firn::cli {
namespace {

using ::firn::io::TempPath;
using ::firn::io::WriteFile;
using ::testing::HasSubstr;

TEST(ConvertTest, EachFormatOfWeightsBecomesEachOther) {
  StateDict state;
  state.Insert("fc.weight", FromVector(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}));
  state.Insert("fc.bias", FromValues({1.0, 2.0}));
  state.Insert("steps", Full({}, 7).To(DType::kI64));
  for (const char* from : {"a.h5", "a.safetensors", "a.pt", "a.npz"}) {
    io::Save(TempPath(from), state);
    for (const char* to : {"b.h5", "b.safetensors", "b.pt", "b.npz", "b.nnp", "b"}) {
      const Outcome o = Firn({"convert", TempPath(from), TempPath(to), "--force"});
      EXPECT_EQ(o.status, 0) << from << " to " << to << ": " << o.err;
      EXPECT_THAT(o.out, HasSubstr("3 tensors of "));
      const StateDict back = io::Load(TempPath(to));
      EXPECT_EQ(back.size(), 3u);
      for (const auto& [name, tensor] : state) EXPECT_TRUE(back[name].Equals(tensor)) << name;
    }
  }
}

TEST(ConvertTest, RefusesByNameWhatTheTargetCannotHold) {
  io::Save(TempPath("half.pt"), {{"w", Ones({2}).To(DType::kBF16)}, {"b", Ones({2})}});
  const auto error = [](const std::string& from, const std::string& to) {
    std::filesystem::remove(TempPath(to));
    const Outcome o = Firn({"convert", TempPath(from), TempPath(to)});
    EXPECT_EQ(o.status, 1);
    EXPECT_FALSE(std::filesystem::exists(TempPath(to)));
    return o.err;
  };
  EXPECT_THAT(error("half.pt", "half.npz"),
              HasSubstr("half.npz: w: expected a type that NPZ has, got bf16 (--widen"));
  EXPECT_THAT(error("half.pt", "half.protobuf"),
              HasSubstr("expected a type that NNabla parameters has, got bf16 (--widen"));
  const std::string wide = TempPath("half.protobuf");
  EXPECT_EQ(Firn({"convert", TempPath("half.pt"), wide, "--widen"}).status, 0);
  EXPECT_TRUE(io::Load(wide)["w"].Equals(Ones({2})));
  EXPECT_EQ(Firn({"convert", TempPath("half.pt"), TempPath("half.npz"), "--widen"}).status, 0);
  EXPECT_EQ(io::Load(TempPath("half.npz"))["w"].dtype(), DType::kF32);
  EXPECT_THAT(error("half.pt", "half.npy"), HasSubstr("bf16"));
  io::Save(TempPath("two.pt"), {{"a", Ones({2})}, {"b", Ones({2})}});
  EXPECT_THAT(error("two.pt", "two.npy"), HasSubstr("holds one array"));
  EXPECT_THAT(error("two.pt", "two.png"),
              HasSubstr("is of the format image, which holds an image"));
  EXPECT_THAT(error("two.pt", "two.xyz"), HasSubstr("ends in '.xyz' (want "));
}

TEST(ConvertTest, OfAGraphTakesTheWeightsWhenAsked) {
  const StateDict state = {{"w", FromValues({1.f, 2.f})}};
  io::SaveGraph(TempPath("net.firn"),
                Freeze([&](const Tensor& x) { return x * state["w"]; }, Zeros({2})),
                {.names = state});
  const std::string to = TempPath("net.safetensors");
  EXPECT_THAT(Firn({"convert", TempPath("net.firn"), to}).err, HasSubstr("holds a graph"));
  EXPECT_EQ(Firn({"convert", TempPath("net.firn"), to, "--weights"}).status, 0);
  EXPECT_TRUE(io::Load(to)["w"].Equals(state["w"]));
}

// Files are recognised by first bytes or by name, and the error says what to do instead.
TEST(ConvertTest, FilesOfOtherProgramsAreRefusedByName) {
  WriteFile(TempPath("m.tflite"), std::string("\x1c\0\0\0TFL3\x14\0", 10));
  WriteFile(TempPath("m.bin"), std::string("\x1c\0\0\0TFL3\x14\0", 10));
  std::filesystem::create_directories(TempPath("saved"));
  WriteFile(TempPath("saved/saved_model.pb"), "\x08\x01");
  WriteFile(TempPath("m.nnb"), std::string("\x02\0\0\0", 4));
  const auto zip = [](const char* name, const std::string& member) {
    std::string bytes = "PK\x03\x04" + std::string(26, '\0') + member;
    bytes[26] = static_cast<char>(member.size());
    WriteFile(TempPath(name), bytes);
  };
  zip("m.keras", "metadata.json");
  zip("m.pt2", "m/data/weights/model_weights_config.json");
  zip("m.pt", "m/models/model.json");
  for (const auto& [file, what] : std::vector<std::pair<const char*, const char*>>{
           {"m.tflite", "TensorFlow Lite, which is not read: python -m tf2onnx.convert --tflite"},
           {"m.bin", "TensorFlow Lite, which is not read"},
           {"saved/saved_model.pb", "TensorFlow, which is not read: python -m tf2onnx.convert"},
           {"saved", "TensorFlow, which is not read"},
           {"m.keras", "Keras, which is not read: tf2onnx"},
           {"m.pt2", "torch.export, which is not read: torch.onnx.export"},
           {"m.pt", "torch.export, which is not read"},
           {"m.nnb", "NNabla's C runtime, which is not read: the .nnp"}}) {
    for (const std::vector<std::string>& line :
         {std::vector<std::string>{"inspect", TempPath(file)},
          std::vector<std::string>{"convert", TempPath(file), TempPath("x.npz"), "--force"},
          std::vector<std::string>{"convert", TempPath(file), TempPath("x.firn"), "--force"}}) {
      const Outcome o = Firn(line);
      EXPECT_EQ(o.status, 1) << line[0];
      EXPECT_THAT(o.err, HasSubstr(what)) << line[0] << " " << file;
    }
    EXPECT_THAT(firn::testing::ErrorOf([&, name = file] { io::Load(TempPath(name)); }),
                HasSubstr(what));
  }
}

// If a graph is to be written, the error lists the formats that hold graphs.
TEST(ConvertTest, AGraphGoesToFilesOfGraphs) {
  io::SaveGraph(TempPath("relu.firn"), Freeze([](const Tensor& x) { return Relu(x); }, Zeros({2})));
  const auto error = [](const char* to) {
    const Outcome o = Firn({"convert", TempPath("relu.firn"), TempPath(to), "--force"});
    EXPECT_EQ(o.status, 1);
    return o.err;
  };
  const char* const want = "(want .firn, .nnb, .nnp, .nntxt";
  EXPECT_THAT(error("m.tflite"), HasSubstr("m.tflite' is of the format TensorFlow Lite, which is "
                                           "not written (want .firn, .nnb, .nnp, .nntxt"));
  EXPECT_THAT(error("m.xyz"), HasSubstr(want));
  EXPECT_THAT(error("m.pt"), HasSubstr("--weights takes its weights alone"));
}

// A program's own format is written like those of Firn.
TEST(ConvertTest, AProgramHasItsOwnFilesOfGraphs) {
  io::SaveGraph(TempPath("own.firn"), Freeze([](const Tensor& x) { return Relu(x); }, Zeros({2})));
  const std::string to = TempPath("own.opcount");
  io::RegisterFormat({.name = "count of operations",
                      .holds = io::FileHolds::kGraph,
                      .graph_suffixes = {".opcount"},
                      .write_graph = [](const std::string& path, const inner::Graph& graph,
                                        const io::SaveOptions&) {
                        WriteFile(path, std::to_string(graph.instrs.size()));
                        return std::vector<std::string>{"it has no parameters"};
                      }});
  const Outcome o = Firn({"convert", TempPath("own.firn"), to, "--force"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("warning: it has no parameters"));
  EXPECT_EQ(io::ReadFile(to), "1");
}

TEST(ConvertTest, GraphsBecomeEachOther) {
  const StateDict state = {{"w", FromValues({1.f, 2.f})}};
  io::SaveGraph(TempPath("from.firn"),
                Freeze([&](const Tensor& x) { return Relu(x) * state["w"]; }, Zeros({3, 2})),
                {.names = state});
  const Tensor x = FromVector<float>({1, -1, 2, 3, -5, 6}, {3, 2});
  const std::vector<float> want = {1, 0, 2, 6, 0, 12};
  std::string from = TempPath("from.firn");
  // Each file is made from the one before, so that all are read as well.
  for (const char* to : {"a.onnx", "b.nnp", "c.firn", "d.nnp", "e.onnx", "f.firn"}) {
    const Outcome o = Firn({"convert", from, TempPath(to), "--force"});
    EXPECT_EQ(o.status, 0) << from << " to " << to << ": " << o.err;
    EXPECT_THAT(o.out, HasSubstr("1 parameters"));
    from = TempPath(to);
  }
  EXPECT_EQ(io::LoadGraph(from)(x).ToVector<float>(), want);
}

TEST(ConvertTest, WhatNumbersMeanGoesWithTheGraphOrIsSaidToBeLeftOut) {
  const io::GraphInfo info = {.pixel_scale = 1.0 / 255,
                              .mean = {0.485, 0.456},
                              .stddev = {0.229, 0.224},
                              .classes = {"cat", "\"dog\", \u00e9"}};
  io::SaveGraph(TempPath("said.firn"),
                Freeze([](const Tensor& x) { return Relu(x); }, Zeros({3, 2})), {.info = info});
  const auto convert = [](const char* from, const char* to) {
    return Firn({"convert", TempPath(from), TempPath(to), "--force"});
  };
  EXPECT_EQ(convert("said.firn", "said.onnx").status, 0);
  EXPECT_EQ(convert("said.onnx", "again.firn").status, 0);
  EXPECT_EQ(io::LoadGraphInfo(TempPath("again.firn")), info);
  for (const char* to : {"said.nnp", "said.nntxt", "said.nnb"}) {
    const Outcome o = convert("said.firn", to);
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, HasSubstr("leave out pixel_scale, mean, stddev, classes")) << to;
  }

  // A file of another program may say things that do not fit.
  io::ExportOnnx(TempPath("lie.onnx"), io::ReadGraph(TempPath("said.firn")).graph,
                 {.metadata = {{"firn.graph_info", R"({"classes":["one"]})"}}});
  const Outcome o = convert("lie.onnx", "lie.firn");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("lie.onnx: metadata_props firn.graph_info: GraphInfo names 1 "
                               "classes"));
}

TEST(ConvertTest, LeavesTheBatchOpenWhenAsked) {
  io::SaveGraph(TempPath("three.firn"),
                Freeze([](const Tensor& x) { return Relu(x); }, Zeros({3, 2})));
  const std::string open = TempPath("open.nnp");
  ASSERT_EQ(Firn({"convert", TempPath("three.firn"), open, "--any-batch", "--force"}).status, 0);
  ASSERT_EQ(Firn({"convert", open, TempPath("five.firn"), "--batch", "5", "--force"}).status, 0);
  EXPECT_EQ(io::LoadGraph(TempPath("five.firn"))(Ones({5, 2})).shape(), Shape({5, 2}));
  EXPECT_THAT(Firn({"convert", open, TempPath("x.firn"), "--any-batch", "--force"}).err,
              HasSubstr("a file of Firn graph has one size of batches"));
}

TEST(ConvertTest, RefusesGraphsThatTheTargetCannotHold) {
  io::SaveGraph(TempPath("qr.firn"), Freeze([](const Tensor& x) { return Qr(x).q; }, Ones({2, 2})));
  for (const char* to : {"qr.onnx", "qr.nnp"}) {
    const Outcome o = Firn({"convert", TempPath("qr.firn"), TempPath(to), "--force"});
    EXPECT_EQ(o.status, 1);
    EXPECT_THAT(o.err, HasSubstr("qr: "));
    EXPECT_FALSE(std::filesystem::exists(TempPath(to)));
  }
}

TEST(ConvertTest, RefusesWhatIsThereAndWhatIsNoFileOfWeights) {
  const std::string a = TempPath("a.npz"), b = TempPath("b.npz");
  io::Save(a, {{"w", Ones({2})}});
  io::Save(b, {{"w", Zeros({2})}});
  EXPECT_THAT(Firn({"convert", a, b}).err, HasSubstr("expected no file, got one (--force"));
  EXPECT_EQ(Firn({"convert", a, a, "--force"}).status, 2);
  EXPECT_THAT(Firn({"convert", TempPath("none.pt"), b, "--force"}).err, HasSubstr("cannot open"));
  WriteFile(TempPath("table.csv"), "1,2");
  EXPECT_THAT(Firn({"convert", TempPath("table.csv"), b, "--force"}).err,
              HasSubstr("holds a table"));
  EXPECT_TRUE(io::Load(b)["w"].Equals(Zeros({2})));  // as it was
}

}  // namespace
}  // namespace firn::cli

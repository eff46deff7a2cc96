// Graphs to files of Firn and of others in one line; tests/io/formats/formats_test has formats that
// a program registers.
#include "firn/io/graph/save.h"

#include "firn/autograd/network/network.h"
#include "firn/io/formats/formats.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/parameters.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const StateDict& State() {
  static const auto* const state = new StateDict{{"fc.w", FromValues({1.f, 2.f})}};
  return *state;
}

StaticGraph Net() {
  const Tensor w = State()["fc.w"];
  return Freeze([&](const Tensor& x) { return Relu(x) * w; }, Zeros({3, 2}));
}

TEST(SaveTest, FilesOfOthersHoldTheGraphAndItsParameters) {
  StaticGraph graph = Net();
  const Tensor x = FromVector<float>({1, -1, 2, 3, -5, 6}, {3, 2});
  for (const char* name : {"net.onnx", "net.nnp"}) {
    const std::string path = TempPath(name);
    EXPECT_THAT(Save(path, graph, {.names = State()}), ElementsAre()) << name;
    EXPECT_TRUE(Reshape(Load(path)["fc.w"], {2}).Equals(State()["fc.w"])) << name;
    const Network network = FormatOfFile(path)->read_network(path, {});
    EXPECT_TRUE(network.Call({x})[0].Equals(graph(x))) << name;
  }
  EXPECT_THAT(Save(TempPath("net.nntxt"), graph, {.names = State()}),
              ElementsAre(HasSubstr("has no parameters")));
  EXPECT_THAT(Save(TempPath("net.nnb"), graph, {.names = State()}), ElementsAre());
  EXPECT_THAT(ReadFile(TempPath("net.nnb")), HasSubstr(std::string("\0\0\x80?\0\0\0@", 8)));
}

TEST(SaveTest, TheSizeOfBatchesStaysOpenWhereItCan) {
  StaticGraph graph = Net();
  const Tensor x = Full({5, 2}, 3.f);
  for (const char* name : {"any.onnx", "any.nnp"}) {
    const std::string path = TempPath(name);
    Save(path, graph, {.names = State(), .any_batch = true});
    const Network network = FormatOfFile(path)->read_network(path, {.batch = kAnyBatch});
    EXPECT_TRUE(network.Call({x})[0].Equals(x * State()["fc.w"])) << name;
  }
  for (const char* name : {"any.firn", "any.nnb"}) {
    EXPECT_THAT(testing::ErrorOf([&] { Save(TempPath(name), graph, {.any_batch = true}); }),
                HasSubstr("has one size of batches"));
  }
}

TEST(SaveTest, WhatNumbersMeanIsKeptOrSaidToBeLeftOut) {
  const SaveOptions options = {.names = State(), .info = {.classes = {"a", "b"}}};
  EXPECT_THAT(Save(TempPath("info.onnx"), Net(), options), ElementsAre());
  EXPECT_THAT(Save(TempPath("info.nnp"), Net(), options),
              ElementsAre(HasSubstr("leave out classes")));
}

TEST(SaveTest, WhatNumbersMeanHasToFitTheGraph) {
  EXPECT_THAT(
      testing::ErrorOf([&] { Save(TempPath("info.onnx"), Net(), {.info = {.classes = {"a"}}}); }),
      HasSubstr("names 1 classes"));
}

TEST(SaveTest, ParametersThatATextLeavesOutAreSaid) {
  EXPECT_THAT(Save(TempPath("unnamed.nntxt"), Net()), ElementsAre(HasSubstr("has no parameters")));
  const StaticGraph none = Freeze([](const Tensor& x) { return Relu(x); }, Zeros({3, 2}));
  EXPECT_THAT(Save(TempPath("none.nntxt"), none, {.names = State()}), ElementsAre());
}

TEST(SaveTest, OtherNamesAreRefused) {
  for (const char* name : {"net", "net.h5", ""}) {
    EXPECT_THAT(testing::ErrorOf([&] { Save(name, Net()); }),
                HasSubstr("(want .firn, .nnb, .nnp, .nntxt or .onnx)"));
  }
}

}  // namespace
}  // namespace firn::io

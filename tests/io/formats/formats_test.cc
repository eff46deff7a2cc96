// How the format of a file is recognised, and formats that a program adds.
#include "firn/io/formats/formats.h"

#include <algorithm>
#include <filesystem>

#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/data/csv_rows.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/save.h"
#include "firn/io/npy/npy.h"
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

using ::testing::HasSubstr;

std::string NameOf(const Format* format) { return format == nullptr ? "" : format->name; }

TEST(FormatsTest, NamesTellByTheLongestSuffix) {
  EXPECT_EQ(NameOf(FormatOfName("folder.pt/net.v2.H5")), "HDF5");
  EXPECT_EQ(NameOf(FormatOfName("x.csv.gz")), "CSV");
  EXPECT_EQ(NameOf(FormatOfName("model.safetensors.index.json")), "safetensors");
  EXPECT_EQ(NameOf(FormatOfName("loss.series.txt")), "series");
  EXPECT_EQ(FormatOfName("npz"), nullptr);
  EXPECT_EQ(FindFormat("npz"), FindFormat("NPZ"));
  EXPECT_FALSE(EndsAsWritten("x.csv.gz", *FindFormat("csv")));
  EXPECT_TRUE(EndsAsWritten("x.CSV", *FindFormat("csv")));
}

// Both are ZIPs, whose first member tells them apart; a name cannot overrule it.
TEST(FormatsTest, ContentComesBeforeTheName) {
  Save(TempPath("a.npz"), {{"w", Ones({2})}});
  Save(TempPath("a.pt"), {{"w", Ones({2})}});
  for (const char* name : {"b.pt", "b.npz", "b.h5", "b"}) {
    WriteFile(TempPath(name), ReadFile(TempPath("a.npz")));
    EXPECT_EQ(NameOf(FormatOfFile(TempPath(name))), "NPZ") << name;
    WriteFile(TempPath(name), ReadFile(TempPath("a.pt")));
    EXPECT_EQ(NameOf(FormatOfFile(TempPath(name))), "PyTorch") << name;
  }
  // Text formats have no first bytes, and text without a heading may look like another format's.
  WriteFile(TempPath("bm.csv"), "BMI,age,weight\n1,2,3\n");
  EXPECT_EQ(NameOf(FormatOfFile(TempPath("bm.csv"))), "CSV");
  // The format of a damaged file comes from its name, and its reader says what is wrong.
  WriteFile(TempPath("short.npy"), "\x93NU");
  EXPECT_EQ(NameOf(FormatOfFile(TempPath("short.npy"))), "NPY");
  EXPECT_EQ(FormatOfFile("/nowhere/net.h5"), nullptr);
}

TEST(FormatsTest, ZipsAreToldByTheirFirstMember) {
  const auto first = [](std::string bytes) {
    FileHead head;
    head.bytes = std::move(bytes);
    return std::string(head.FirstZipMember());
  };
  Save(TempPath("first.npz"), {{"w", Ones({2})}});
  const std::string zip = ReadFile(TempPath("first.npz"));
  EXPECT_EQ(first(zip), "w.npy");
  EXPECT_EQ(first(zip.substr(0, 29)), "");
  EXPECT_EQ(first("PK"), "");
  EXPECT_EQ(first(""), "");
}

TEST(FormatsTest, EachIsToldByItsSuffixAndOnceOnly) {
  for (const Format* format : Formats()) {
    EXPECT_EQ(FindFormat(format->name), format);
    for (const std::string& suffix : format->suffixes) {
      EXPECT_EQ(FormatOfName("x" + suffix), format) << suffix;
    }
  }
  EXPECT_THAT(SuffixesText([](const Format& f) { return f.holds == FileHolds::kImage; }),
              HasSubstr(".png, .tif or .tiff"));
  EXPECT_STREQ(FileHoldsName(FileHolds::kEvents), "events");
}

TEST(FormatsTest, LoadAndSaveTakeArraysOfNumPy) {
  Save(TempPath("one.npy"), {{"w", FromValues({1.f, 2.f})}});
  EXPECT_TRUE(ReadNpy(TempPath("one.npy")).Equals(FromValues({1.f, 2.f})));
  EXPECT_TRUE(Load(TempPath("one.npy"))["array"].Equals(FromValues({1.f, 2.f})));
  EXPECT_THAT(testing::ErrorOf([] {
                Save(TempPath("two.npy"), {{"a", Ones({})}, {"b", Ones({})}});
              }),
              HasSubstr("holds one array (want a dict of one tensor, got 2"));
  Save(TempPath("two.npz"), {{"a", Ones({2})}, {"b", Zeros({3})}});
  EXPECT_EQ(ReadNpz(TempPath("two.npz")).size(), 2u);
  const StateDict one =
      Load(TempPath("two.npz"), {.want = [](std::string_view name) { return name == "b"; }});
  EXPECT_EQ(one.size(), 1u);
  EXPECT_EQ(one["b"].num_elements(), 3);
}

TEST(FormatsTest, LoadTakesTheStatesOfAGraph) {
  const StateDict state = {{"w", FromValues({1.f, 2.f})}};
  SaveGraph(TempPath("net.firn"),
            Freeze([&](const Tensor& x) { return x * state["w"]; }, Zeros({2})), {.names = state});
  EXPECT_TRUE(Load(TempPath("net.firn"))["w"].Equals(state["w"]));
  EXPECT_THAT(testing::ErrorOf([&] { Save(TempPath("net.firn"), state); }),
              HasSubstr("is of the format Firn graph, which holds more than tensors"));
}

// Three letters, how many bytes there are, and the bytes.
Format Raw() {
  return {.name = "RAW",
          .suffixes = {".raw"},
          .recognises = [](const FileHead& head) { return head.bytes.starts_with("RAW"); },
          .read_tensors =
              [](const std::string& path, const LoadOptions&) {
                return StateDict{{"bytes", Full({ReadFile(path)[3]}, 7)}};
              },
          .write_tensors =
              [](const std::string& path, const StateDict& state) {
                WriteFile(path, std::string("RAW") +
                                    static_cast<char>(state.begin()->second.num_elements()));
              },
          .read_array = [](const std::string& path,
                           const ReadArrayOptions&) { return Full({ReadFile(path)[3]}, 7); }};
}

TEST(FormatsTest, AProgramHasItsOwn) {
  const std::string path = TempPath("x.raw");
  EXPECT_THAT(testing::ErrorOf([&] {
                Save(path, {{"w", Ones({5})}});
              }),
              HasSubstr("ends in '.raw' (want "));
  RegisterFormat(Raw());
  Save(path, {{"w", Ones({5})}});
  EXPECT_EQ(Load(path)["bytes"].num_elements(), 5);
  WriteFile(TempPath("other.pt"), ReadFile(path));
  EXPECT_EQ(Load(TempPath("other.pt"))["bytes"].num_elements(), 5);
  // Cells that name such files are read, too.
  WriteFile(TempPath("rows.csv"), "x,y\nx.raw,1\n");
  EXPECT_EQ(CsvRows(TempPath("rows.csv"))->Get(0)[0].num_elements(), 5);
}

// Formats that are read and never written hold tensors, too.
TEST(FormatsTest, WhatIsOnlyReadIsSaidToBeThat) {
  RegisterFormat({.name = "ROM", .suffixes = {".rom"}, .read_tensors = Raw().read_tensors});
  EXPECT_THAT(testing::ErrorOf([] {
                Save(TempPath("x.rom"), {{"w", Ones({5})}});
              }),
              HasSubstr("is of the format ROM, which has nothing for save (want "));
}

TEST(FormatsTest, WhatFirnDoesNotReadIsNamed) {
  const std::string path = TempPath("m.dat");
  WriteFile(path, std::string("\x1c\0\0\0TFL3", 8));
  EXPECT_EQ(NameOf(FormatOfFile(path)), "TensorFlow Lite");
  EXPECT_THAT(testing::ErrorOf([&] { RefuseForeign(path, "mine"); }),
              HasSubstr("m.dat: is of the format TensorFlow Lite, which is not read: python"));
  WriteFile(path, "TFL3");
  RefuseForeign(path, "mine");
}

// A program that reads such files registers them; the contents of a file decide before its name.
TEST(FormatsTest, WhatFirnDoesNotReadGivesWay) {
  const std::string path = TempPath("w.pb");
  Save(TempPath("w.safetensors"), {{"w", Ones({5})}});
  std::filesystem::copy_file(TempPath("w.safetensors"), path,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(Load(path)["w"].Equals(Ones({5})));
  RegisterFormat(
      {.name = "graph text", .suffixes = {".pbtxt"}, .read_tensors = Raw().read_tensors});
  const std::string text = TempPath("g.pbtxt");
  WriteFile(text, "node {}");
  EXPECT_EQ(NameOf(FormatOfFile(text)), "graph text");
  RefuseForeign(text, "mine");
}

// The part of a text about one operation.
Format Count() {
  return {.name = "count of operations",
          .holds = FileHolds::kGraph,
          .graph_suffixes = {".opcount", ".h5"},
          .write_graph = [](const std::string& path, const inner::Graph& graph,
                            const SaveOptions& options) {
            WriteFile(path, std::to_string(graph.instrs.size()));
            return std::vector<std::string>(options.names.empty() ? 0 : 1, "no parameters");
          }};
}

TEST(FormatsTest, SaveTakesGraphs) {
  const StateDict state = {{"w", FromValues({1.f, 2.f})}};
  const StaticGraph graph = Freeze([&](const Tensor& x) { return x * state["w"]; }, Zeros({1, 2}));
  const std::string path = TempPath("saved.FIRN");
  EXPECT_TRUE(Save(path, graph, {.names = state, .info = {.classes = {"a", "b"}}}).empty());
  EXPECT_TRUE(Load(path)["w"].Equals(state["w"]));
  EXPECT_TRUE(LoadGraph(path)(Ones({1, 2})).Equals(Reshape(state["w"], {1, 2})));
  EXPECT_EQ(LoadGraphInfo(path).classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_THAT(testing::ErrorOf([&] { Save(path, graph, {.any_batch = true}); }),
              HasSubstr("a file of Firn graph has one size of batches"));
  EXPECT_TRUE(Load(path)["w"].Equals(state["w"]));
  EXPECT_THAT(testing::ErrorOf([&] { Save(TempPath("graph.pt"), graph); }),
              HasSubstr("ends in '.pt' (want .firn"));

  RegisterFormat(Count());
  EXPECT_EQ(NameOf(GraphFormatOfName("x.OPCOUNT")), "count of operations");
  EXPECT_EQ(NameOf(FormatOfName("x.h5")), "HDF5");
  EXPECT_THAT(GraphSuffixesText(), HasSubstr(".h5 or .opcount"));
  const std::string count = TempPath("net.opcount");
  EXPECT_THAT(Save(count, graph, {.names = state}), ::testing::ElementsAre("no parameters"));
  EXPECT_EQ(ReadFile(count), "1");
}

TEST(FormatsTest, RefusesASecondOne) {
  const auto error = [](Format format) {
    return testing::ErrorOf([&] { RegisterFormat(std::move(format)); });
  };
  EXPECT_THAT(error({.name = "npz"}), HasSubstr("a format called 'npz' (want a name that no"));
  EXPECT_THAT(error({}), HasSubstr("a format called ''"));
  EXPECT_THAT(error({.name = "mine", .suffixes = {".pt"}}),
              HasSubstr("mine: the suffix .pt is that of PyTorch"));
  EXPECT_THAT(error({.name = "mine", .read_suffixes = {"mine"}}),
              HasSubstr("the suffix 'mine' (want a dot and small letters behind it)"));
  const auto written = [](const std::string&, const inner::Graph&, const SaveOptions&) {
    return std::vector<std::string>();
  };
  EXPECT_THAT(error({.name = "mine", .graph_suffixes = {".firn"}, .write_graph = written}),
              HasSubstr("mine: the suffix .firn is that of Firn graph"));
  EXPECT_THAT(error({.name = "mine", .write_graph = written}),
              HasSubstr("expected write_graph and graph_suffixes, got no suffix"));
  EXPECT_THAT(error({.name = "mine", .graph_suffixes = {".mine"}}), HasSubstr("got no function"));
  EXPECT_EQ(FindFormat("mine"), nullptr);
}

}  // namespace
}  // namespace firn::io

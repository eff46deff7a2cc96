// DOT text, and pictures made from it: by a stand-in for `dot`, so that most of it is tested where
// GraphViz is missing.

#include "firn/autograd/graph/dot.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "firn/autograd/graph/capture.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

Graph GraphOf(CaptureFn fn, const Tensor& x) { return Capture(fn, {&x, 1}).graph; }

void ExpectContains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nhas no\n" << part;
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(DotTest, DrawsOperationsInTheFramesOfTheirModules) {
  const std::string net = "net", one = "one", two = "two";
  const Tensor w = Full({2}, 2.0);
  const auto fn = [&](absl::Span<const Tensor> in) {
    const PathScope scope(net);
    Tensor y;
    {
      const PathScope inner(one);
      y = Exp(in[0]);
    }
    {
      const PathScope inner(two);
      y = y * w;
    }
    return TensorList{Neg(y)};
  };
  const std::string text = DotText(GraphOf(fn, Ones({2})));
  EXPECT_EQ(text, DotText(GraphOf(fn, Ones({2}))));
  const auto at = [&](const std::string& part) {
    EXPECT_EQ(Count(text, part), 1u) << part << "\n" << text;
    return text.find(part);
  };
  // net { neg, one { exp }, two { mul } }
  EXPECT_LT(at("label=\"net\""), at("label=\"neg\""));
  EXPECT_LT(at("label=\"neg\""), at("label=\"one\""));
  EXPECT_LT(at("label=\"one\""), at("label=\"exp\""));
  EXPECT_LT(at("label=\"exp\""), at("label=\"two\""));
  EXPECT_LT(at("label=\"two\""), at("label=\"mul\""));
  const std::string between =
      text.substr(at("label=\"exp\""), at("label=\"two\"") - at("label=\"exp\""));
  EXPECT_EQ(Count(between, "}\n"), 1u) << between;
  EXPECT_EQ(Count(text, "{"), Count(text, "}"));
  ExpectContains(text, "shape=oval, label=\"input 0\\nf32 [2]\"");
  ExpectContains(text, "shape=cylinder, label=\"state %");
  ExpectContains(text, "shape=doubleoctagon, label=\"output 0\"");
  ExpectContains(text, "op0 -> op1 [label=\"f32 [2]\"];");
  ExpectContains(text, "op1 -> op2 [label=\"f32 [2]\"];");
  ExpectContains(text, "op2 -> output0 [label=\"f32 [2]\"];");
  EXPECT_EQ(Count(text, " -> "), 5u) << text;
}

TEST(DotTest, StatesHaveNamesAndModulesOneBox) {
  const std::string net = "net", norm = "norm";
  const Tensor w = Full({2}, 2.0), count = Zeros({2});
  const auto fn = [&](absl::Span<const Tensor> in) {
    const PathScope scope(net);
    Tensor y = in[0];
    {
      const PathScope inner(norm);
      for (int i = 0; i < 3; ++i) y = Exp(y * w);
    }
    return TensorList{Neg(y) + count};
  };
  const Graph graph = GraphOf(fn, Ones({2}));
  const PictureOptions named = {.names = {{"norm.weight", w}, {"other", Ones({1})}}};
  ExpectContains(DotText(graph, named), "label=\"state norm.weight\\nf32 [2]\"");
  ExpectContains(DotText(graph, named), "label=\"state %");  // the one that has no name
  const std::string text = DotText(graph, {.names = named.names, .modules = true});
  ExpectContains(text, "label=\"norm\\nmul x 3, exp x 3\"");
  ExpectContains(text, "label=\"net\\nneg, add\"");
  EXPECT_EQ(Count(text, "shape=box"), 2u) << text;
  EXPECT_EQ(Count(text, "module0 -> module1"), 1u) << text;
  EXPECT_EQ(Count(text, "module0 -> module0"), 0u) << text;
  // Input, weight, count, the two modules and the result.
  EXPECT_EQ(Count(text, " -> "), 5u) << text;
}

TEST(DotTest, AModuleHasTheSameColourInEveryGraph) {
  const std::string first = "first", second = "second", third = "third";
  const auto colour_of = [&](const std::string& path, const Tensor& x, bool with_other) {
    const std::string text = DotText(GraphOf(
        [&](absl::Span<const Tensor> in) {
          Tensor y = in[0];
          if (with_other) {
            const PathScope scope(third);
            y = Tanh(y);
          }
          const PathScope scope(path);
          return TensorList{Exp(y)};
        },
        x));
    const size_t exp = text.find("label=\"exp\"");
    const size_t at = text.rfind("fillcolor=", exp);
    return text.substr(at, text.find(',', at) - at);
  };
  EXPECT_EQ(colour_of(first, Ones({2}), false), colour_of(first, Ones({3, 4}), true));
  EXPECT_NE(colour_of(first, Ones({2}), false), colour_of(second, Ones({2}), false));
}

TEST(DotTest, AnEdgeStartsAtWhoChangedTheValueLast) {
  Tensor state = Ones({2});
  const std::string text = DotText(GraphOf(
      [&](absl::Span<const Tensor> in) {
        state.CopyFrom(in[0]);
        return TensorList{Exp(state)};
      },
      Ones({2})));
  ExpectContains(text, "op0 -> op1 [label=");
  EXPECT_EQ(Count(text, "[style=dashed, constraint=false]"), 1u) << text;
}

TEST(DotTest, BackwardIsDashedAndGradientsAreShown) {
  Tensor w = Ones({2}).SetRequiresGrad();
  const std::string text = DotText(GraphOf(
      [&](absl::Span<const Tensor> in) {
        w.ZeroGrad();
        const Tensor y = in[0] * w;
        y.Backward(in[0]);
        return TensorList{y};
      },
      Ones({2})));
  EXPECT_EQ(Count(text, "style=\"filled,solid\""), 1u) << text;
  EXPECT_GE(Count(text, "style=\"filled,dashed\""), 1u) << text;
  EXPECT_EQ(Count(text, " -> gradient0 [label="), 1u) << text;
}

TEST(DotTest, LongAttributesAreWrapped) {
  const Tensor labels = Zeros({2}, DType::kI64);
  const std::string text = DotText(
      GraphOf([&](absl::Span<const Tensor> in) { return TensorList{CrossEntropy(in[0], labels)}; },
              Ones({2, 3})));
  ExpectContains(
      text, "label=\"cross_entropy\\n{ignore_index=-100, reduction=mean,\\nlabel_smoothing=0}\"");
}

TEST(DotTest, NamesOfModulesAreEscaped) {
  const std::string nasty = "a\"];}\\N&lt;\nb";
  const std::string text = DotText(GraphOf(
      [&](absl::Span<const Tensor> in) {
        const PathScope scope(nasty);
        return TensorList{Exp(in[0])};
      },
      Ones({2})));
  ExpectContains(text, R"(label="a\"];}\\N&amp;lt;\nb")");
}

class PictureTest : public ::testing::Test {
 protected:
  PictureTest() : path_(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH")) {}
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "picture_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "bin");
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  // Puts a program of that name first, for this test.
  void Install(const std::string& script) {
    const fs::path program = folder_ / "bin" / "dot";
    std::ofstream(program) << "#!/bin/sh\n" << script;
    chmod(program.c_str(), 0755);
    setenv("PATH", ((folder_ / "bin").string() + ":" + path_).c_str(), 1);
  }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The folder bin, and what was written.
  int64_t CountFiles() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  static Graph Small() {
    return GraphOf([](absl::Span<const Tensor> in) { return TensorList{Exp(in[0])}; }, Ones({2}));
  }
  absl::Status Write(const std::string& path) const {
    return testing::StatusOf([&] { WriteGraphPicture(Small(), path); });
  }

  std::string path_;
  fs::path folder_;
};

TEST_F(PictureTest, RunsDotWithArgumentsAndReplacesTheFile) {
  // dot -Tsvg -o to from
  Install(
      "test $# = 4 && test \"$2\" = -o || exit 9\necho \"$1\" > \"$3\"; cat \"$4\" >> \"$3\"\n");
  const std::string name = "a 'b' $(touch x);\"c.svg";
  ASSERT_TRUE(Write(Path(name)).ok()) << Write(Path(name));
  EXPECT_EQ(Read(name), "-Tsvg\n" + DotText(Small()));
  ASSERT_TRUE(Write(Path("n.png")).ok());
  EXPECT_EQ(Read("n.png").substr(0, 6), "-Tpng\n");
  EXPECT_EQ(CountFiles(), 3);
}

TEST_F(PictureTest, ANameThatBeginsWithADashIsNoOption) {
  Install("test -f \"$4\" || exit 9; cp -- \"$4\" \"$3\"\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  const absl::Status status = Write("-Kneato.svg");
  fs::current_path(before);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(Read("-Kneato.svg"), DotText(Small()));
}

TEST_F(PictureTest, SaysWhatDotSaidAndLeavesTheOldFile) {
  std::ofstream(Path("a.svg")) << "old";
  Install("echo 'syntax error in line 1' >&2; exit 3\n");
  const absl::Status status = Write(Path("a.svg"));
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  ExpectContains(std::string(status.message()),
                 "write_graph_picture: `dot` failed with exit status 3: syntax error in line 1");
  EXPECT_EQ(Read("a.svg"), "old");
  EXPECT_EQ(CountFiles(), 2);
}

TEST_F(PictureTest, ManyMessagesDoNotStopIt) {
  Install(
      "i=0; while [ $i -lt 3000 ]; do echo '0123456789012345678901234567890123456789' >&2; "
      "i=$((i+1)); done; cp -- \"$4\" \"$3\"\n");
  EXPECT_TRUE(Write(Path("a.svg")).ok());
}

TEST_F(PictureTest, SaysWhatToInstallWhenDotIsMissing) {
  setenv("PATH", (folder_ / "bin").c_str(), 1);
  const absl::Status status = Write(Path("a.svg"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  ExpectContains(std::string(status.message()), "install Debian's package graphviz");
  EXPECT_EQ(CountFiles(), 1);
  EXPECT_TRUE(Write(Path("a.dot")).ok());  // needs no program
  EXPECT_EQ(Read("a.dot"), DotText(Small()));
}

TEST_F(PictureTest, RefusesOtherSuffixesAndFoldersThatAreNotThere) {
  EXPECT_EQ(Write(Path("a.jpg")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Write(Path("none/a.dot")).code(), absl::StatusCode::kNotFound);
}

TEST_F(PictureTest, GraphVizDrawsEvenNastyNames) {
  if (std::system("dot -V 2>/dev/null") != 0) {
    std::cout << "SKIPPED: GraphViz is not installed (./setup --dev installs it)\n";
    GTEST_SKIP() << "GraphViz is not installed";
  }
  const std::string nasty = "q\"];}\\N&lt;\nb\xFF";
  const Graph graph = GraphOf(
      [&](absl::Span<const Tensor> in) {
        const PathScope scope(nasty);
        return TensorList{Exp(in[0])};
      },
      Ones({2}));
  WriteGraphPicture(graph, Path("a.svg"));
  const std::string svg = Read("a.svg");
  ExpectContains(svg, "</svg>");
  ExpectContains(svg, ">q&quot;];}\\N&amp;lt;<");  // as it is, in XML
  ExpectContains(svg, ">exp<");
  ExpectContains(svg, ">f32 [2]<");
  WriteGraphPicture(graph, Path("a.png"));
  EXPECT_EQ(Read("a.png").substr(1, 3), "PNG");
}

}  // namespace
}  // namespace firn

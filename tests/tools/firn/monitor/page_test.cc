#include "tools/firn/monitor/page.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/firn/monitor/charts.h"
#include "tools/firn/monitor/graph_svg.h"
#include "tools/firn/monitor/histogram_svg.h"

namespace firn::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHostile[] = "\"'><script>alert(1)</script><img src=http://a/b onerror=x>&\x1b\xff";

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

io::EventHistogram Histogram(double min, double max, std::vector<double> limits,
                             std::vector<double> buckets) {
  io::EventHistogram h;
  h.min = min;
  h.max = max;
  h.num = 4;
  h.bucket_limits = std::move(limits);
  h.buckets = std::move(buckets);
  return h;
}

RunContents HostileContents() {
  RunContents contents;
  ThinCurve points;
  points.Add(0, 1);
  points.Add(1, std::nan(""));
  contents.charts.push_back(
      {kHostile,
       ChartKind::kLoss,
       {{kHostile, kHostile, false, points}, {kHostile, "b", false, points}}});
  auto picture = std::make_shared<Picture>(Picture{kHostile, "image/png", "bytes"});
  contents.pictures.push_back({kHostile, {picture}, 3});
  const io::EventHistogram histogram = Histogram(0, 2, {1, 2}, {1, 2});
  contents.histograms.push_back({kHostile, {{0, histogram}}});
  contents.texts.push_back({kHostile, std::string(kHostile) + "\nline", 7, true});
  contents.graphs.push_back({kHostile, {{.name = kHostile, .op = kHostile}}});
  contents.problems.push_back({kHostile, kHostile});
  return contents;
}

TEST(PageTest, TellsOfPicturesThatFoundNoRoom) {
  RunContents contents;
  contents.pictures.push_back({"name", {}, 3});
  contents.pictures.push_back({"nothing", {}, 0});
  const std::string page = RenderPage(contents, {.written = "now"});
  EXPECT_THAT(page, HasSubstr("<bdi>name</bdi>"));
  EXPECT_THAT(page, HasSubstr(">3 left out<"));
  EXPECT_THAT(page, Not(HasSubstr("<bdi>nothing</bdi>")));
}

TEST(PageTest, NothingInFilesIsMarkup) {
  const std::string page = RenderPage(HostileContents(), {.title = kHostile, .written = "now"});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img src=http")));
  EXPECT_THAT(page, Not(HasSubstr("onerror=x>")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\"'>")));
  // In the title, the heading, and each section.
  EXPECT_GE(CountOf(page, "&lt;script&gt;alert(1)&lt;/script&gt;"), 12);
}

TEST(PageTest, HasAPolicyBeforeAnythingElseAndReloadsWhenAsked) {
  const std::string page = RenderPage({}, {.title = "t", .written = "now", .refresh_seconds = 7});
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; img-src data:;"));
  EXPECT_LT(page.find("Content-Security-Policy"), page.find("<title>"));
  EXPECT_THAT(page, HasSubstr("<meta http-equiv=\"refresh\" content=\"7\"/>"));
  EXPECT_THAT(page, HasSubstr("Nothing of a run is here yet"));
  EXPECT_THAT(RenderPage({}, {}), Not(HasSubstr("\"refresh\"")));
}

TEST(PageTest, ShowsSectionsCurvesAndNumbers) {
  const std::string page = RenderPage(HostileContents(), {.title = "t", .smoothing = 0.5});
  EXPECT_EQ(CountOf(page, "class=\"card chart\""), 1);
  EXPECT_EQ(CountOf(page, "<li>"), 2);
  EXPECT_THAT(page, HasSubstr("nan at 1, 1 not finite"));
  EXPECT_EQ(CountOf(page, "class=\"c0 pale\""), 1);
  EXPECT_THAT(page, HasSubstr("src=\"data:image/png;base64,Ynl0ZXM=\""));
  EXPECT_THAT(page, HasSubstr("and 3 more"));
  EXPECT_EQ(CountOf(page, "class=\"hill\""), 1);
  EXPECT_THAT(page, HasSubstr("step 7, only the beginning"));
  EXPECT_EQ(CountOf(page, "class=\"node\""), 1);
  for (const char* section : {"Problems", "Loss", "Pictures", "Histograms", "Texts", "Graph"}) {
    EXPECT_THAT(page, HasSubstr(std::string(">") + section + "</h2>"));
    EXPECT_THAT(page, HasSubstr(std::string(">") + section + "</a>"));
  }
  EXPECT_THAT(page, Not(HasSubstr(">Time</h2>")));
}

// The items of all legends, as they stand there.
std::vector<std::string> LegendOf(const std::string& page) {
  const std::string begin = "<li><span class=\"key ", end = "<span class=\"numbers\">";
  std::vector<std::string> items;
  for (size_t at = 0; (at = page.find(begin, at)) != std::string::npos; ++at) {
    const size_t from = at + begin.size();
    items.push_back(page.substr(from, page.find(end, at) - from));
  }
  return items;
}

TEST(PageTest, TrainingAndValidationOfEachRunHaveOneColour) {
  ThinCurve points;
  points.Add(0, 1);
  points.Add(1, 2);
  std::vector<Curve> curves;
  for (const char* run : {"first", "second"}) {
    curves.push_back({"training-loss", run, false, points});
    curves.push_back({"validation loss", run, false, points});
  }
  RunContents contents;
  contents.charts = ChartsOf(curves);
  const std::string page = RenderPage(contents, {});
  EXPECT_EQ(CountOf(page, "class=\"card chart\""), 1);
  EXPECT_THAT(LegendOf(page), ElementsAre("c0 d0\"></span><bdi>first/training-loss</bdi>",
                                          "c0 d1\"></span><bdi>first/validation loss</bdi>",
                                          "c1 d0\"></span><bdi>second/training-loss</bdi>",
                                          "c1 d1\"></span><bdi>second/validation loss</bdi>"));
  // The chart has the curves of its legend.
  for (const char* color : {"c0", "c1"}) {
    const std::string line = std::string("<polyline class=\"") + color + "\"";
    EXPECT_EQ(CountOf(page, line), 2) << color;
  }
  EXPECT_EQ(CountOf(page, "stroke-dasharray=\"7 5\""), 2);
  // One run needs no name.
  curves.resize(2);
  for (Curve& curve : curves) curve.run = "";
  contents.charts = ChartsOf(curves);
  EXPECT_THAT(LegendOf(RenderPage(contents, {})),
              ElementsAre("c0 d0\"></span><bdi>training-loss</bdi>",
                          "c0 d1\"></span><bdi>validation loss</bdi>"));
}

TEST(PageTest, NamesOfSharedChartsAreNoMarkup) {
  ThinCurve points;
  points.Add(0, 1);
  const std::string name = kHostile;
  RunContents contents;
  contents.charts =
      ChartsOf({{"train " + name, name, false, points}, {"val " + name, name, false, points}});
  ASSERT_EQ(contents.charts.size(), 1u);
  EXPECT_EQ(contents.charts[0].curves.size(), 2u);
  const std::string page = RenderPage(contents, {});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img src=http")));
  EXPECT_THAT(page, Not(HasSubstr("\"'>")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_GE(CountOf(page, "&lt;script&gt;alert(1)&lt;/script&gt;"), 4);
}

TEST(HistogramSvgTest, CopesWithAnyNumbers) {
  const double nan = std::nan(""), most = std::numeric_limits<double>::max();
  const auto draw = [](double min, double max, std::vector<double> limits,
                       std::vector<double> buckets) {
    return DrawHistograms({"h", {{0, Histogram(min, max, limits, buckets)}}});
  };
  EXPECT_EQ(CountOf(draw(0, 1, {0.5, most}, {1, 3}), "class=\"hill\""), 1);
  EXPECT_EQ(CountOf(draw(2, 2, {most}, {1}), "class=\"hill\""), 1);
  EXPECT_EQ(draw(0, 1, {}, {}), "");
  EXPECT_EQ(draw(nan, 1, {1}, {1}), "");
  EXPECT_EQ(draw(-most, most, {1}, {1}), "");
  EXPECT_EQ(draw(0, 1, {nan, -1}, {1, 1}), "");
  EXPECT_EQ(draw(0, 1, {0.5, 1}, {nan, -1}), "");
  EXPECT_THAT(draw(0, 1, {0.5, 0.2, 1}, {1, 1, 1}), Not(HasSubstr("nan")));
}

TEST(HistogramSvgTest, DrawsAHillForAtMostTenSteps) {
  HistogramRow row{.name = "h"};
  const io::EventHistogram h = Histogram(0, 1, {0.5, 1}, {1, 3});
  for (int i = 0; i < 17; ++i) row.histograms.push_back({i, h});
  const std::string svg = DrawHistograms(row);
  EXPECT_EQ(CountOf(svg, "class=\"hill\""), 9);
  EXPECT_THAT(svg, HasSubstr("<title>step 16: 4 values from 0 to 1</title>"));
}

TEST(GraphSvgTest, DrawsNodesBelowTheirInputs) {
  const SmallGraph graph = MakeSmall({{.name = "x", .op = "input", .output_shapes = {{2, 3}}},
                                      {.name = "relu", .op = "relu", .inputs = {"x:0", "^none"}},
                                      {.name = "add", .op = "add", .inputs = {"x", "^relu", "x"}}});
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].hint, "x: input [2, 3]");
  EXPECT_EQ(graph.nodes[1].inputs, std::vector<size_t>{0});
  EXPECT_EQ(graph.nodes[2].inputs, (std::vector<size_t>{0, 1}));
  const std::string svg = DrawGraph(graph, "g");
  EXPECT_EQ(CountOf(svg, "class=\"node\""), 3);
  EXPECT_EQ(CountOf(svg, "class=\"edge\""), 3);
  std::vector<double> tops;
  for (size_t at = 0; (at = svg.find("<rect x=", at)) != std::string::npos; ++at) {
    tops.push_back(std::stod(svg.substr(svg.find(" y=\"", at) + 4)));
  }
  EXPECT_LT(tops.at(0), tops.at(1));
  EXPECT_LT(tops.at(1), tops.at(2));
}

// A batch norm is one box, and what stands between modules is seen.
TEST(GraphSvgTest, AModuleWithoutOthersIsOneBox) {
  const std::vector<io::EventGraphNode> nodes = {
      {.name = "input0", .op = "input"},
      {.name = "net/conv/conv2d_0", .op = "conv2d", .inputs = {"input0"}},
      {.name = "net/norm/add_1", .op = "add"},
      {.name = "net/norm/rsqrt_2", .op = "rsqrt", .inputs = {"net/norm/add_1"}},
      {.name = "net/norm/affine_3",
       .op = "affine",
       .inputs = {"net/conv/conv2d_0", "net/norm/rsqrt_2"}},
      {.name = "net/relu_4", .op = "relu", .inputs = {"net/norm/affine_3"}},
      {.name = "net/add_5", .op = "add", .inputs = {"net/relu_4", "input0"}}};
  const SmallGraph graph = MakeSmall(nodes, {.by_module = true});
  std::vector<std::string> labels;
  for (const SmallGraph::Node& node : graph.nodes) labels.push_back(node.label);
  EXPECT_THAT(labels, ElementsAre("input", "conv2d", "norm", "relu", "add"));
  EXPECT_EQ(graph.all, 7);
  EXPECT_EQ(graph.nodes[2].members, 3);
  EXPECT_EQ(graph.nodes[2].hint, "net/norm: 3 nodes");
  EXPECT_EQ(graph.nodes[2].inputs, std::vector<size_t>{1});
  EXPECT_EQ(graph.nodes[3].inputs, std::vector<size_t>{2});
  EXPECT_EQ(MakeSmall(nodes).nodes.size(), 7u);  // of graphs whose names mean something else
  // Names of events have no modules, and if these are still too many, they are grouped by their
  // first words.
  EXPECT_EQ(MakeSmall(nodes, {.most = 4, .by_module = true}).nodes.size(), 2u);
}

TEST(GraphSvgTest, CopesWithCirclesAndTwins) {
  const SmallGraph graph = MakeSmall({{.name = "a", .inputs = {"b", "a"}},
                                      {.name = "b", .inputs = {"c"}},
                                      {.name = "c", .inputs = {"a"}},
                                      {.name = "c", .inputs = {"d"}},
                                      {.name = "d"}});
  EXPECT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(CountOf(DrawGraph(graph, ""), "<rect"), 4);
  EXPECT_EQ(DrawGraph(MakeSmall({}), ""), "");
}

TEST(GraphSvgTest, PutsManyNodesIntoGroups) {
  std::vector<io::EventGraphNode> nodes;
  for (int i = 0; i < 1000; ++i) {
    const std::string block = "net/block" + std::to_string(i / 10);
    nodes.push_back({.name = block + "/op" + std::to_string(i)});
    if (i > 0) nodes.back().inputs = {nodes[static_cast<size_t>(i) - 1].name};
  }
  const SmallGraph graph = MakeSmall(nodes);
  ASSERT_EQ(graph.nodes.size(), 100u);
  EXPECT_EQ(graph.all, 1000);
  EXPECT_EQ(graph.nodes[1].label, "block1");
  EXPECT_EQ(graph.nodes[1].hint, "net/block1: 10 nodes");
  EXPECT_EQ(graph.nodes[1].inputs, std::vector<size_t>{0});
  EXPECT_EQ(MakeSmall(nodes, {.most = 50}).nodes.size(), 1u);
  for (io::EventGraphNode& node : nodes) node.name.erase(0, 4);
  EXPECT_TRUE(MakeSmall(nodes, {.most = 50}).nodes.empty());
}

}  // namespace
}  // namespace firn::cli

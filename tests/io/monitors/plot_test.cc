#include "firn/io/monitors/plot.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "firn/io/draw/axis.h"
#include "firn/io/draw/stroke_font.h"
#include "firn/io/image/image.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

std::vector<std::string> Labels(const draw::Axis& axis) {
  std::vector<std::string> labels;
  for (const draw::Tick& tick : axis.ticks()) labels.push_back(tick.label);
  return labels;
}

TEST(AxisTest, HasRoundNumbersWithinItsRange) {
  const draw::Axis axis({0.07, 0.93, kNan, -kInfinity}, false, 5);
  EXPECT_THAT(Labels(axis), ElementsAre("0.2", "0.4", "0.6", "0.8"));
  EXPECT_EQ(axis.Place(0.07), 0);
  EXPECT_EQ(axis.Place(0.93), 1);
  EXPECT_NEAR(axis.ticks()[0].at, (0.2 - 0.07) / 0.86, 1e-12);
  EXPECT_FALSE(axis.Shows(kNan));
  EXPECT_THAT(Labels(draw::Axis({-3, 3}, false, 4)), ElementsAre("-2", "0", "2"));
  EXPECT_THAT(Labels(draw::Axis({1e6, 1e6 + 4}, false, 2)),
              ElementsAre("1000000", "1000002", "1000004"));
}

TEST(AxisTest, IsLogarithmicWherePositive) {
  const draw::Axis axis({0, -1, 1, 1e4}, true, 5);
  EXPECT_FALSE(axis.Shows(0));
  EXPECT_THAT(Labels(axis), ElementsAre("1", "10", "100", "1000", "10000"));
  EXPECT_DOUBLE_EQ(axis.Place(100), 0.5);
  EXPECT_THAT(Labels(draw::Axis({1, 30}, true, 5)), ElementsAre("1", "2", "5", "10", "20"));
}

// Any numbers give ticks in order and finite places.
TEST(AxisTest, CopesWithAnyRange) {
  const double largest = std::numeric_limits<double>::max();
  const std::vector<std::vector<double>> ranges = {{},
                                                   {kNan},
                                                   {0},
                                                   {5, 5},
                                                   {-largest, largest},
                                                   {5e-324, 1e-323},
                                                   {1, 1 + 1e-15},
                                                   {1e300, 1e300},
                                                   {5e-324, largest},
                                                   {-1e-5}};
  for (const std::vector<double>& range : ranges) {
    for (bool logarithmic : {false, true}) {
      const draw::Axis axis(range, logarithmic, 6);
      EXPECT_LE(axis.ticks().size(), 20u);
      for (const draw::Tick& tick : axis.ticks()) {
        EXPECT_GE(tick.at, -1e-6);
        EXPECT_LE(tick.at, 1 + 1e-6);
      }
      for (double value : range) {
        EXPECT_TRUE(!axis.Shows(value) || std::isfinite(axis.Place(value))) << value;
      }
    }
  }
}

TEST(SmoothedTest, IsTensorBoardsAverage) {
  EXPECT_THAT(draw::Smoothed({1, 2, kNan, 4}, 0), ElementsAre(1, 2, ::testing::IsNan(), 4));
  const std::vector<double> smooth = draw::Smoothed({1, 2, 4}, 0.5);
  EXPECT_DOUBLE_EQ(smooth[0], 1);
  EXPECT_DOUBLE_EQ(smooth[1], (0.25 * 1 + 0.5 * 2) / 0.75);
  EXPECT_DOUBLE_EQ(smooth[2], (0.125 * 1 + 0.25 * 2 + 0.5 * 4) / 0.875);
}

TEST(StrokeFontTest, HasEveryLetterWithinItsBox) {
  for (int c = 0; c < 256; ++c) {
    const std::string_view strokes = draw::StrokesOf(static_cast<char>(c));
    EXPECT_EQ(strokes.empty(), c == ' ');
    size_t digits = 0;
    for (char s : strokes) {
      const bool is_digit = s >= '0' && s <= (digits % 2 == 0 ? '4' : '8');
      EXPECT_TRUE(is_digit || (s == ' ' && digits % 2 == 0)) << c;
      digits += is_digit ? 1 : 0;
    }
    EXPECT_EQ(digits % 2, 0u) << c;
  }
}

TEST(PlotTest, DrawsAnSvg) {
  const std::string svg =
      DrawSeries("svg", {{.name = "a <&> \"b\"\n\xff", .x = {0, 1, 2, 3}, .y = {1, 3, kNan, 2}}},
                 {.title = "Title", .x_label = "step", .y_label = "loss"});
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  for (const char* part : {">Title</text>", ">step</text>", ">loss</text>", "rotate(-90",
                           ">1.5</text>", "a &lt;&amp;&gt; &quot;b&quot; \xef\xbf\xbd</text>"}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
  // The curve breaks where a point is missing.
  size_t curves = 0;
  for (size_t at = 0; (at = svg.find("stroke=\"#0072b2\"", at)) != std::string::npos; ++at)
    ++curves;
  EXPECT_EQ(curves, 2u + 1);  // and one in the legend
  EXPECT_THAT(DrawSeries("svg", {{.name = "hidden", .x = {1}, .y = {1}}}, {.legend = false}),
              Not(HasSubstr("hidden")));
}

// The dashes of the polylines of a class, in their order; "" for a solid one.
std::vector<std::string> DashesOf(const std::string& svg, const std::string& role) {
  const std::string begin = "<polyline class=\"" + role + "\"", key = "stroke-dasharray=\"";
  std::vector<std::string> found;
  for (size_t at = 0; (at = svg.find(begin, at)) != std::string::npos; ++at) {
    const std::string line = svg.substr(at, svg.find("/>", at) - at);
    const size_t dashes = line.find(key);
    const size_t from = dashes + key.size();
    found.push_back(dashes == std::string::npos ? ""
                                                : line.substr(from, line.find('"', from) - from));
  }
  return found;
}

TEST(PlotTest, TrainingAndValidationShareAColour) {
  const std::vector<Series> two_runs = {
      {.name = "a/training-loss", .x = {0, 1}, .y = {3, 1}},
      {.name = "a/validation loss", .x = {0, 1}, .y = {3, 2}},
      {.name = "b/training-loss", .x = {0, 1}, .y = {4, 1}},
      {.name = "b/validation loss", .x = {0, 1}, .y = {4, 2}},
  };
  const std::string svg = DrawSeries("svg", two_runs);
  // The curves, then their lines in the legend.
  for (const char* role : {"c0", "c1"}) {
    EXPECT_THAT(DashesOf(svg, role), ElementsAre("", "7 5", "", "7 5")) << role;
  }
  EXPECT_THAT(DashesOf(svg, "c2"), ElementsAre());
  for (const Series& one : two_runs) EXPECT_THAT(svg, HasSubstr(">" + one.name + "</text>"));
  // The colours are those of the page's style, in the raw curves of smoothed ones too.
  const std::string smooth = DrawSeries("svg", two_runs, {.smoothing = 0.5});
  EXPECT_THAT(DashesOf(smooth, "c1 pale"), ElementsAre("", ""));
}

TEST(PlotTest, APngHasDashesToo) {
  const auto blue_pixels = [](const std::string& name) {
    const Tensor picture = DecodeImage(
        DrawSeries("png", {{.name = name, .x = {0, 1, 2}, .y = {0, 5, 0}}}, {.legend = false}));
    const Tensor blue = picture[2].To(DType::kF32), red = picture[0].To(DType::kF32);
    return Sum((blue - red > 60).To(DType::kF32)).Item();
  };
  const double solid = blue_pixels("training loss"), dashed = blue_pixels("validation loss"),
               dotted = blue_pixels("test loss");
  // 7 of 12 pixels and round ends; 1 of 6 and round ends.
  EXPECT_GT(solid, 800);
  EXPECT_LT(dashed, 0.85 * solid);
  EXPECT_GT(dashed, 0.5 * solid);
  EXPECT_LT(dotted, 0.7 * dashed);
  EXPECT_GT(dotted, 0.1 * solid);
}

// A run of a few steps beside a long one: all its points lie in one place.
TEST(PlotTest, PointsInOnePlaceAreSeen) {
  const std::string svg =
      DrawSeries("svg", {{.name = "long", .x = {0, 1e6}, .y = {0, 1}},
                         {.name = "short", .x = {0, 1, 2}, .y = {0.5, 0.5, 0.5}}});
  const size_t dot = svg.find(
      "<polyline class=\"c1\" fill=\"none\" stroke=\"#d55e00\" "
      "stroke-width=\"4.6\"");
  EXPECT_NE(dot, std::string::npos) << svg;
  const std::string one = DrawSeries("svg", {{.x = {7}, .y = {1}}});
  EXPECT_THAT(one, HasSubstr("stroke-width=\"4.6\""));
}

TEST(PlotTest, TheLegendSaysWhatItHasNoRoomFor) {
  std::vector<Series> many;
  for (int i = 0; i < 100; ++i) many.push_back({"run " + std::to_string(i), {0, 1}, {0, 1}});
  const std::string svg = DrawSeries("svg", many);
  EXPECT_THAT(svg, HasSubstr(">run 24</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">run 25</text>")));
  EXPECT_THAT(svg, HasSubstr(">and 75 more</text>"));
  many.resize(26);
  EXPECT_THAT(DrawSeries("svg", many), HasSubstr(">run 25</text>"));
}

TEST(PlotTest, LongNamesLoseTheirMiddle) {
  const std::string long_name = "first" + std::string(100, '-');
  const std::string svg = DrawSeries(
      "svg", {{.name = long_name + "/loss", .x = {0}, .y = {0}},
              {.name = long_name + "/validation loss", .x = {0}, .y = {1}},
              {.name = std::string(99, 'x') +
                       "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 ",
               .x = {0},
               .y = {2}}});
  EXPECT_THAT(svg, HasSubstr(">first---------...---------/loss</text>"));
  EXPECT_THAT(svg, HasSubstr("...alidation loss</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("\xef\xbf\xbd")));  // whole characters
}

// A page's style finds the parts of a picture by their classes.
TEST(PlotTest, SaysWhatPartsOfAnSvgAreFor) {
  const std::string svg = DrawSeries(
      "svg", {{.x = {0, 1}, .y = {1, 3}}, {.x = {0, 1}, .y = {1, 2}}}, {.smoothing = 0.5});
  for (const char* part :
       {"<rect class=\"paper\"", "<polyline class=\"grid\"", "<polyline class=\"frame\"",
        "<polyline class=\"c0 pale\"", "<polyline class=\"c0\"", "<polyline class=\"c1\""}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
  EXPECT_THAT(svg, Not(HasSubstr("<title>")));
}

TEST(PlotTest, TellsNumbersWhereSomebodyPoints) {
  const std::string svg = DrawSeries(
      "svg",
      {{.name = "<a>", .x = {0, 100, 1e6}, .y = {1, 5, 3}}, {.name = "b", .x = {1e6}, .y = {kNan}}},
      {.hints = true});
  // The first two points lie in one strip, for which the first is shown.
  EXPECT_THAT(svg, HasSubstr("<title>&lt;a&gt; 1 at 0</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("5 at 100")));
  EXPECT_THAT(svg, HasSubstr("<title>&lt;a&gt; 3 at 1000000</title>"));
  const std::string both =
      DrawSeries("svg", {{.name = "a", .x = {7}, .y = {1}}, {.x = {7}, .y = {2}}}, {.hints = true});
  EXPECT_THAT(both, HasSubstr("<title>a 1 at 7; 2 at 7</title>"));
  EXPECT_EQ(DrawSeries("png", {{.x = {0, 1}, .y = {1, 3}}}, {.hints = true}),
            DrawSeries("png", {{.x = {0, 1}, .y = {1, 3}}}));
}

TEST(PlotTest, DrawsThePointsOfASeriesWhereTheAxesSay) {
  // One point at the left end and one at the right end of the range, on a picture whose plot area
  // is 80 to 175 by 20 to 165.
  const std::string png =
      DrawSeries("png", {{.x = {0, 1}, .y = {0, 1}}}, {.width = 200, .height = 200});
  const Tensor picture = DecodeImage(png);
  ASSERT_EQ(picture.shape(), Shape({3, 200, 200}));
  const auto is_blue = [&](int64_t x, int64_t y) {
    return picture[{2, y, x}].Item<int>() > picture[{0, y, x}].Item<int>() + 60;
  };
  EXPECT_TRUE(is_blue(83, 160));
  EXPECT_TRUE(is_blue(127, 92));  // the middle
  EXPECT_TRUE(is_blue(172, 24));
  EXPECT_FALSE(is_blue(90, 30));
}

TEST(PlotTest, WritesFilesAndTimers) {
  const std::string timer = TempPath("t.timer.txt");
  WriteFile(timer, "9 60 10 60\n19 120 10 180\n");
  PlotTimer(TempPath("t.svg"), {timer}, {.unit = 'm'});
  EXPECT_THAT(ReadFile(TempPath("t.svg")), HasSubstr("total time [m]"));
  PlotTimer(TempPath("t.png"), {timer}, {.column = TimerColumn::kPerStep, .unit = 'h'});
  EXPECT_EQ(ReadImage(TempPath("t.png")).size(2), 800);
  PlotSeries(TempPath("s.png"),
             {{.name = "loss", .x = {1, 10, 100}, .y = {1, 0.1, 0.01}}, {.name = "empty"}},
             {.log_x = true, .log_y = true, .smoothing = 0.6});
  EXPECT_EQ(ReadImage(TempPath("s.png")).size(1), 500);
}

// The points of the only curve.
std::string CurveOf(const std::string& svg) {
  const size_t color = svg.find("stroke=\"#0072b2\"");
  EXPECT_NE(color, std::string::npos);
  const size_t begin = svg.rfind('<', color), end = svg.find("/>", color);
  return svg.substr(begin, end - begin);
}

TEST(PlotTest, ThinsOutAMillionPoints) {
  Series series;
  for (int i = 0; i < 1000000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i % 1000 == 0 ? 1 : 0);
  }
  const std::string svg = DrawSeries("svg", {series});
  EXPECT_LT(svg.size(), 100000u);
  // The peaks are still there: the top of the plot is at 20.
  EXPECT_THAT(CurveOf(svg), HasSubstr(",20 "));
}

TEST(PlotTest, ThinningKeepsTheMiddleOfThreePointsInAColumn) {
  const Series series = {.x = {0, 0.0003, 0.0006, 1}, .y = {1, 0, 0.5, 1}};
  EXPECT_THAT(CurveOf(DrawSeries("svg", {series})), HasSubstr(",465 "));
}

TEST(PlotTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(ErrorOf([] { PlotSeries("a.gif", {}); }), HasSubstr(".svg or .png"));
  EXPECT_THAT(ErrorOf([] { DrawSeries("gif", {}); }), HasSubstr("(want svg or png)"));
  EXPECT_THAT(ErrorOf([] { DrawSeries("svg", {}, {.width = 20}); }), HasSubstr("20 x 500"));
  EXPECT_THAT(ErrorOf([] { DrawSeries("svg", {}, {.smoothing = 1}); }),
              HasSubstr("smoothing is 1"));
  EXPECT_THAT(ErrorOf([] { DrawSeries("svg", {{.name = "a", .x = {1}}}); }),
              HasSubstr("series a has 1 x and 0 y"));
  EXPECT_THAT(ErrorOf([] { PlotTimer("a.svg", {}, {.unit = 'x'}); }), HasSubstr("the unit is 'x'"));
  EXPECT_THAT(ErrorOf([] { PlotSeries(TempPath("none/a.svg"), {}); }), HasSubstr("none/a.svg"));
}

}  // namespace
}  // namespace firn::io

#include "benchmarks/versus_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace firn::benchmarks {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Dynamic steps of 12 ms, frozen ones of 10 ms.
VersusResult Both() {
  VersusResult r;
  r.config = {"deep_cnn", 10, 64};
  r.dynamic = {.blocks = Blocks(4, {12, 12}), .peak_mb = 100.5, .losses = {2.5, 1.25}};
  r.frozen = VersusMode{.blocks = Blocks(4, {10, 10}), .peak_mb = 60, .losses = {2.5, 1.25}};
  r.capture_ms = 20;
  r.compile_ms = 7;
  r.frozen->wall_ms = {11, 12};
  r.others = 0.021;
  return r;
}

VersusResult DynamicOnly() {
  VersusResult r = Both();
  r.config = {"changing_cnn", 10, 64};
  r.frozen.reset();
  return r;
}

const VersusContext kContext{.machine = {.cpu = "A <fast> & \"new\" one",
                                         .cores = 2,
                                         .simd = "avx2",
                                         .kernel = "6",
                                         .gpus = ""},
                             .command = "bench --json=\"x\"",
                             .threads = 2};

TEST(VersusResultTest, FreezingPaysOffWhenItsCostIsSaved) {
  VersusResult r = Both();
  EXPECT_EQ(r.PaysOffAfter(), 8);  // (20 + 7 - 12) / 2, rounded up
  r.capture_ms = 1;
  EXPECT_EQ(r.PaysOffAfter(), 0);
  r.frozen->blocks = r.dynamic.blocks;
  EXPECT_EQ(r.PaysOffAfter(), std::nullopt);
  EXPECT_EQ(DynamicOnly().PaysOffAfter(), std::nullopt);
}

TEST(VersusResultTest, TheLossGapIsRelativeAndSeesNan) {
  VersusResult r = Both();
  EXPECT_EQ(r.LossGap(), 0);
  r.frozen->losses[1] = 1.5;
  EXPECT_DOUBLE_EQ(r.LossGap(), 0.2);
  r.frozen->losses[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(r.LossGap()));
}

TEST(VersusTableTest, ALineHasEveryNumber) {
  const std::string line = TableLine(Both());
  for (const char* cell :
       {"deep_cnn/d10/b64", "12.000 (0.0000)", "10.000 (0.0000)", "1.200 (1.200..1.200)", "100.5",
        " 60.0", "20.000 + 7.000", "8 steps", "2%", "2.500 -> 1.250, equal\n"}) {
    EXPECT_THAT(line, HasSubstr(cell));
  }
}

VersusContext OnCuda() {
  VersusContext context = kContext;
  context.machine.gpus = "NVIDIA H200";
  context.device = "cuda:0";
  context.precision = "default";
  context.arithmetic = "default (matmul strict, conv tf32)";
  return context;
}

TEST(VersusTableTest, TheTitleSaysWhereAndHowNumbersWereTaken) {
  EXPECT_EQ(TableTitle(kContext),
            "on cpu (A <fast> & \"new\" one), precision f32, times by the clock\n");
  EXPECT_EQ(TableTitle(OnCuda()),
            "on cuda:0 (NVIDIA H200), precision default (matmul strict, conv tf32), times by the "
            "device's events\n");
}

TEST(VersusTableTest, StepsThatWaitForTheDeviceAreTold) {
  VersusResult r = Both();
  EXPECT_THAT(TableLine(r), Not(HasSubstr("waits")));
  r.frozen->waits = 2;
  EXPECT_THAT(TableLine(r), HasSubstr("equal, waits in a block: 0 dynamic, 2 static\n"));
}

TEST(VersusTableTest, ColumnsStandBelowTheirHeads) {
  const std::string head = TableHead();
  for (const VersusResult& r : {Both(), DynamicOnly()}) {
    const std::string line = TableLine(r);
    EXPECT_EQ(line.find("2.500 ->"), head.find("losses"));
    EXPECT_EQ(line.find("100.5") + 5, head.find("peak MB") + 7);
  }
}

TEST(VersusTableTest, WhatIsNotThereIsSaid) {
  EXPECT_THAT(TableLine(DynamicOnly()), HasSubstr("only dynamic\n"));
  VersusResult r = Both();
  r.frozen->blocks = r.dynamic.blocks;
  r.frozen->losses[1] = 1.5;
  EXPECT_THAT(TableLine(r), HasSubstr("never"));
  EXPECT_THAT(TableLine(r), HasSubstr("2.0e-01 apart\n"));
}

TEST(VersusJsonTest, ARowAModeAndAComparisonAPair) {
  const std::vector<VersusResult> results = {Both(), DynamicOnly()};
  const std::string json = VersusJson(results, kContext);
  EXPECT_THAT(json, HasSubstr(R"({"workload": "deep_cnn", "depth": 10, "batch": 64, )"
                              R"("precision": "f32", "task": "train", "framework": "firn", )"
                              R"("mode": "static", "threads": 2, "device": "cpu", )"
                              R"("median_ms": 10, "spread": 0, "min_ms": 10, "wall_ms": 11.5, )"
                              R"("peak_mb": 60})"));
  EXPECT_THAT(json, HasSubstr(R"({"workload": "changing_cnn", "depth": 10, "batch": 64, )"
                              R"("precision": "f32", "task": "train", "framework": "firn", )"
                              R"("mode": "dynamic")"));
  EXPECT_THAT(json, HasSubstr(R"({"workload": "deep_cnn", "depth": 10, "batch": 64, )"
                              R"("ratio": 1.2, "ratio_low": 1.2, "ratio_high": 1.2, )"
                              R"("capture_ms": 20, "compile_ms": 7, "capture_peak_mb": 0, )"
                              R"("pays_off_after": 8, "loss_gap": 0, "losses": [2.5, 1.25], )"
                              R"("waits": 0, "others": 0.021})"));
  EXPECT_THAT(json, HasSubstr(R"("command": "bench --json=\"x\"")"));
  EXPECT_THAT(json, HasSubstr(R"("cpu": "A <fast> & \"new\" one")"));
}

TEST(VersusJsonTest, RowsNameDeviceAndPrecision) {
  const VersusResult r = Both();
  const std::string json = VersusJson({&r, 1}, OnCuda());
  EXPECT_THAT(json, HasSubstr(R"("precision": "default", "task")"));
  EXPECT_THAT(json, HasSubstr(R"("device": "cuda:0")"));
  EXPECT_THAT(json, HasSubstr(R"("gpus": "NVIDIA H200")"));
  EXPECT_THAT(VersusPlot({&r, 1}, OnCuda()), HasSubstr("cuda:0 (NVIDIA H200), default (matmul"));
}

TEST(VersusJsonTest, WhatIsNoNumberIsNull) {
  VersusResult r = Both();
  r.dynamic.losses[0] = std::numeric_limits<double>::infinity();
  const std::string json = VersusJson({&r, 1}, kContext);
  EXPECT_THAT(json, HasSubstr("\"losses\": [null, 1.25]"));
  EXPECT_THAT(json, Not(HasSubstr("inf")));
}

TEST(VersusPlotTest, BarsOfOneNetworkAreToScale) {
  const std::vector<VersusResult> results = {Both(), DynamicOnly()};
  const std::string svg = VersusPlot(results, kContext);
  EXPECT_THAT(svg, HasSubstr("width=\"480\""));  // 12 ms
  EXPECT_THAT(svg, HasSubstr("width=\"400\""));  // 10 ms
  EXPECT_THAT(svg, HasSubstr(">dynamic 12 ms (1.20x static)</text>"));
  EXPECT_THAT(svg, HasSubstr(">static 10 ms</text>"));
  EXPECT_THAT(svg, HasSubstr(">dynamic 12 ms</text>"));
  EXPECT_THAT(svg, HasSubstr("A &lt;fast&gt; &amp; "));
}

}  // namespace
}  // namespace firn::benchmarks

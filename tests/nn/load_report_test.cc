#include "firn/nn/load_report.h"

#include <gtest/gtest.h>

namespace firn::nn {
namespace {

LoadReport Suggested(std::vector<std::string> missing, std::vector<std::string> unexpected) {
  LoadReport report;
  report.missing = std::move(missing);
  report.unexpected = std::move(unexpected);
  report.Suggest();
  return report;
}

TEST(LoadReportTest, SuggestsTheModuleThatMissesTheSameParts) {
  const LoadReport r = Suggested({"bn.weight", "bn.bias", "bn.running_mean", "fc.weight"},
                                 {"norm.weight", "norm.bias", "norm.running_mean"});
  EXPECT_EQ(r.suggestions, (std::vector<std::string>{"bn.*"}));
  // It is found also behind modules that have nothing in common with it.
  EXPECT_EQ(
      Suggested({"a.gamma", "fc.weight", "fc.bias"}, {"head.weight", "head.bias"}).suggestions,
      (std::vector<std::string>{"fc.*"}));
}

TEST(LoadReportTest, PrefersTheModuleSpeltMostAlike) {
  const LoadReport r =
      Suggested({"layer1.0.conv.weight", "layer2.0.conv.weight"}, {"layer2.0.conf.weight"});
  EXPECT_EQ(r.suggestions, (std::vector<std::string>{"layer2.0.conv.*"}));
}

TEST(LoadReportTest, SuggestsSingleNamesBySpelling) {
  const LoadReport r = Suggested({"fc.weight"}, {"fc.wieght"});
  EXPECT_EQ(r.suggestions, (std::vector<std::string>{"fc.weight"}));
}

TEST(LoadReportTest, SuggestsNothingFarFetched) {
  const LoadReport r = Suggested({"fc.weight"}, {"optimizer_step"});
  EXPECT_TRUE(r.suggestions.empty());
  EXPECT_EQ(r.ToString(), "1 missing (fc.weight), 1 unexpected (optimizer_step)");
}

// A file of another network, of hundreds of names, gives a report that fits on a screen; the lists
// have all of them.
TEST(LoadReportTest, TellsTheFirstOfMany) {
  LoadReport r;
  for (int i = 0; i < 12; ++i) r.missing.push_back("m" + std::to_string(i));
  EXPECT_EQ(r.ToString(), "12 missing (m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more)");
  r.missing.resize(10);
  EXPECT_EQ(r.ToString(), "10 missing (m0, m1, m2, m3, m4, m5, m6, m7, m8, m9)");
}

TEST(LoadReportTest, SaysThatAllIsWell) {
  LoadReport r;
  EXPECT_EQ(r.ToString(), "all 0 loaded");
  r.loaded = 62;
  EXPECT_EQ(r.ToString(), "all 62 loaded");
}

}  // namespace
}  // namespace firn::nn

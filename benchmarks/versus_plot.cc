// Draws horizontal bars from top to bottom: a title, then for each configuration its name and a bar
// a mode, with a whisker as long as the spread of blocks, cut where the text would leave the
// picture. Coordinates are pixels.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/versus_report.h"
#include "firn/io/draw/svg.h"

namespace firn::benchmarks {
namespace {

using io::draw::Align;
using io::draw::SvgElement;
using io::draw::SvgText;

constexpr int kWidth = 940, kLeft = 190, kLongest = 480, kBar = 18, kGap = 14, kTop = 64;
constexpr const char *kDynamicColor = "#e0803a", *kStaticColor = "#3a76b0";

struct Bar {
  BlockSummary time;
  const char* color;
  std::string text;
};

std::string Drawn(const Bar& bar, int y, double longest_ms) {
  const double scale = kLongest / longest_ms;
  const double end = kLeft + bar.time.median_ms * scale, middle = y + (kBar - 2) / 2;
  const double whisker = std::min(bar.time.spread * scale / 2, 0.1 * kLongest);
  const io::draw::SvgPath spread =
      io::draw::SvgPath().MoveTo({end - whisker, middle}).LineTo({end + whisker, middle});
  return absl::StrCat(SvgElement("rect", {{"x", kLeft},
                                          {"y", y},
                                          {"width", bar.time.median_ms * scale},
                                          {"height", kBar - 2},
                                          {"fill", bar.color}}),
                      SvgElement("path", {{"d", spread.text()}, {"stroke", "#222222"}}),
                      SvgText({end + whisker + 6, middle}, bar.text));
}

std::vector<Bar> BarsOf(const VersusResult& r) {
  const auto label = [](const char* mode, const BlockSummary& s) {
    return absl::StrFormat("%s %.4g ms", mode, s.median_ms);
  };
  const BlockSummary dynamic = Summarize(r.dynamic.blocks);
  std::vector<Bar> bars = {{dynamic, kDynamicColor, label("dynamic", dynamic)}};
  if (r.frozen.has_value()) {
    const BlockSummary frozen = Summarize(r.frozen->blocks);
    bars.push_back({frozen, kStaticColor, label("static", frozen)});
    absl::StrAppendFormat(&bars[0].text, " (%.2fx static)", dynamic.median_ms / frozen.median_ms);
  }
  return bars;
}

}  // namespace

std::string VersusPlot(absl::Span<const VersusResult> results, const VersusContext& context) {
  std::string body;
  int y = kTop;
  for (const VersusResult& r : results) {
    const std::vector<Bar> bars = BarsOf(r);
    double longest_ms = 0;
    for (const Bar& b : bars) longest_ms = std::max(longest_ms, b.time.median_ms);
    const int height = kBar * static_cast<int>(bars.size());
    absl::StrAppend(&body,
                    SvgText({kLeft - 10, y + height / 2.0}, r.config.Label(), Align::kRight));
    for (const Bar& b : bars) {
      absl::StrAppend(&body, Drawn(b, y, longest_ms));
      y += kBar;
    }
    y += kGap;
  }
  const std::string where =
      context.device == "cpu"
          ? absl::StrCat(context.threads, " threads, ", context.machine.cpu)
          : absl::StrCat(context.device, " (", context.machine.gpus, "), ", context.arithmetic);
  const std::string about = absl::StrCat("Median time of a training step with Adam, ", where,
                                         ". Bars of one network are to scale.");
  const std::string paper =
      SvgElement("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#ffffff"}});
  return io::draw::SvgPicture(
      kWidth, y, {{"width", kWidth}, {"height", y}, {"font-family", "sans-serif"}},
      absl::StrCat(
          paper,
          SvgText({20, 20}, "Dynamic and static training", Align::kLeft, {{"font-size", 17}}),
          SvgText({20, 42}, about), body));
}

}  // namespace firn::benchmarks

// Horizontal bars from top to bottom: a title, then for each configuration its name and a bar a
// mode, with a whisker as long as the spread of blocks, cut where the text would leave the picture.
// Coordinates are pixels.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "benchmarks/versus_report.h"

namespace firn::benchmarks {
namespace {

constexpr int kWidth = 940, kLeft = 190, kLongest = 480, kBar = 18, kGap = 14, kTop = 64;
constexpr const char *kDynamicColor = "#e0803a", *kStaticColor = "#3a76b0";

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

std::string Text(int x, int y, const char* style, const std::string& text) {
  return absl::StrFormat("<text x=\"%d\" y=\"%d\" %s>%s</text>\n", x, y, style, Escaped(text));
}

struct Bar {
  BlockSummary time;
  const char* color;
  std::string text;
};

std::string Drawn(const Bar& bar, int y, double longest_ms) {
  const double scale = kLongest / longest_ms;
  const double end = kLeft + bar.time.median_ms * scale;
  const double whisker = std::min(bar.time.spread * scale / 2, 0.1 * kLongest);
  const int middle = y + kBar / 2;
  return absl::StrCat(
      absl::StrFormat("<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", kLeft,
                      y, bar.time.median_ms * scale, kBar - 2, bar.color),
      absl::StrFormat("<path d=\"M%.1f %d H%.1f\" stroke=\"#222\"/>\n", end - whisker, middle,
                      end + whisker),
      Text(static_cast<int>(end + whisker) + 6, middle + 4, "", bar.text));
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
                    Text(kLeft - 10, y + height / 2 + 4, "text-anchor=\"end\"", r.config.Label()));
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
  return absl::StrCat(
      absl::StrFormat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                      "font-family=\"sans-serif\" font-size=\"12\">\n",
                      kWidth, y),
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      Text(20, 26, "font-size=\"17\"", "Dynamic and static training"), Text(20, 46, "", about),
      body, "</svg>\n");
}

}  // namespace firn::benchmarks

// Sections of cards. All that comes from files goes through XmlText, or is base64.
#include "tools/firn/monitor/page.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "firn/io/draw/svg.h"
#include "firn/io/monitors/plot.h"
#include "firn/io/monitors/series_names.h"
#include "firn/io/number_text.h"
#include "tools/firn/monitor/charts.h"
#include "tools/firn/monitor/graph_svg.h"
#include "tools/firn/monitor/histogram_svg.h"
#include "tools/firn/monitor/style.h"

namespace firn::cli {
namespace {

using io::draw::XmlText;

constexpr size_t kColors = 6;  // of io/monitors' plots
constexpr size_t kMostProblems = 50;

std::string Number(double value) { return io::FormatNumber(value, 5); }

// A name in text of its own direction, so that letters written to the left stay within it.
std::string Named(std::string_view name) { return absl::StrCat("<bdi>", XmlText(name), "</bdi>"); }

std::string NumbersOf(const ThinCurve::Summary& s) {
  std::string text = absl::StrCat(Number(s.last_y), " at ", io::FormatNumber(s.last_x, 10));
  if (s.finite > 1) absl::StrAppend(&text, ", ", Number(s.least), " to ", Number(s.largest));
  if (s.not_finite > 0) absl::StrAppend(&text, ", ", s.not_finite, " not finite");
  return text;
}

std::string ChartCard(const Chart& chart, const PageOptions& o) {
  std::vector<io::Series> series;
  std::string legend, said;
  const std::vector<std::string> labels = LabelsOf(chart);
  const auto styles = io::StylesOf(labels, kColors);  // as the plot has them
  for (size_t i = 0; i < chart.curves.size(); ++i) {
    const std::string& name = labels[i];
    const std::string numbers = NumbersOf(chart.curves[i].points.Summarize());
    series.push_back(chart.curves[i].points.Points(name));
    absl::StrAppend(&legend, "<li><span class=\"key c", styles[i].color % kColors, " d",
                    styles[i].dashes, "\"></span>", Named(name), "<span class=\"numbers\">",
                    XmlText(numbers), "</span></li>\n");
    absl::StrAppend(&said, said.empty() ? "" : "; ", name, name.empty() ? "" : ": ", numbers);
  }
  // Rates and times are not noisy, so they are not smoothed.
  const bool noisy = chart.kind == ChartKind::kLoss || chart.kind == ChartKind::kOther;
  const bool log_y = o.log_y && chart.kind == ChartKind::kLoss;
  const std::string svg = io::DrawSeries("svg", series,
                                         {.width = 640,
                                          .height = 300,
                                          .log_y = log_y,
                                          .smoothing = noisy ? o.smoothing : 0,
                                          .legend = false,
                                          .hints = true});
  return absl::StrCat("<section class=\"card chart\"><h3>", Named(chart.name),
                      "</h3>\n<div role=\"img\" aria-label=\"", XmlText(chart.name), ": ",
                      XmlText(said), "\">", svg, "</div>\n<ul class=\"legend\">", legend,
                      "</ul></section>\n");
}

std::string ChartCards(const RunContents& contents, ChartKind kind, const PageOptions& o) {
  std::string cards;
  for (const Chart& chart : contents.charts) {
    if (chart.kind == kind) cards += ChartCard(chart, o);
  }
  return cards;
}

std::string PictureCards(const RunContents& contents) {
  std::string cards;
  for (const PictureGroup& group : contents.pictures) {
    if (group.pictures.empty() && group.left_out == 0) continue;
    absl::StrAppend(&cards, "<section class=\"card wide\"><h3>", Named(group.name),
                    "</h3><div class=\"pictures\">\n");
    for (const auto& picture : group.pictures) {
      absl::StrAppend(&cards, "<figure><img alt=\"", XmlText(group.name), ", ",
                      XmlText(picture->caption), "\" src=\"data:", picture->type, ";base64,",
                      absl::Base64Escape(picture->bytes), "\"/><figcaption>",
                      Named(picture->caption), "</figcaption></figure>\n");
    }
    cards += "</div>";
    if (group.left_out > 0) {
      const bool none = group.pictures.empty();
      absl::StrAppend(&cards, "<p class=\"dim\">", none ? "" : "and ", group.left_out,
                      none ? " left out" : " more", "</p>");
    }
    cards += "</section>\n";
  }
  return cards;
}

std::string HistogramCards(const RunContents& contents) {
  std::string cards;
  for (const HistogramRow& row : contents.histograms) {
    const std::string svg = DrawHistograms(row);
    absl::StrAppend(&cards, "<section class=\"card histogram\"><h3>", Named(row.name), "</h3>\n",
                    svg.empty() ? "<p class=\"dim\">no finite values</p>" : svg, "</section>\n");
  }
  return cards;
}

std::string TextCards(const RunContents& contents) {
  std::string cards;
  for (const TextFound& text : contents.texts) {
    absl::StrAppend(&cards, "<section class=\"card\"><h3>", Named(text.name), "</h3><pre>");
    // Line by line: XmlText makes blanks of line feeds.
    for (const absl::string_view line : absl::StrSplit(text.text, '\n')) {
      absl::StrAppend(&cards, XmlText({line.data(), line.size()}), "\n");
    }
    absl::StrAppend(&cards, "</pre><p class=\"dim\">step ", text.step,
                    text.cut ? ", only the beginning" : "", "</p></section>\n");
  }
  return cards;
}

std::string GraphCards(const RunContents& contents) {
  std::string cards;
  for (const GraphFound& found : contents.graphs) {
    const SmallGraph graph = MakeSmall(found.nodes, {.by_module = found.by_module});
    absl::StrAppend(&cards, "<section class=\"card wide graph\"><h3>", Named(found.name),
                    "</h3><p class=\"dim\">", graph.all, " nodes");
    if (graph.nodes.empty()) {
      cards += ", too many different names for a picture</p></section>\n";
      continue;
    }
    const bool grouped = static_cast<int64_t>(graph.nodes.size()) < graph.all;
    absl::StrAppend(&cards, grouped ? absl::StrCat(" in ", graph.nodes.size(), " boxes") : "",
                    "</p><div class=\"scroll\" tabindex=\"0\">\n", DrawGraph(graph, found.name),
                    "</div></section>\n");
  }
  return cards;
}

std::string ProblemCards(const RunContents& contents) {
  std::string list;
  const size_t shown = std::min(contents.problems.size(), kMostProblems);
  for (size_t i = 0; i < shown; ++i) {
    const Problem& p = contents.problems[i];
    absl::StrAppend(&list, "<p>", Named(p.file), ": ", Named(p.what), "</p>\n");
  }
  if (shown < contents.problems.size()) {
    absl::StrAppend(&list, "<p>and ", contents.problems.size() - shown, " more</p>\n");
  }
  if (list.empty()) return "";
  return absl::StrCat("<section class=\"card wide problems\">", list, "</section>\n");
}

double LastStep(const RunContents& contents) {
  double last = std::nan("");
  for (const Chart& chart : contents.charts) {
    for (const Curve& curve : chart.curves) last = std::fmax(last, curve.points.Summarize().last_x);
  }
  return last;
}

std::string Header(const RunContents& contents, const PageOptions& o) {
  std::string text = absl::StrCat("<header><h1>", Named(o.title), "</h1>\n<p class=\"dim\">",
                                  XmlText(CountsOf(contents)));
  const double last = LastStep(contents);
  if (std::isfinite(last)) {
    absl::StrAppend(&text, "; the last step is ", io::FormatNumber(last, 10));
  }
  absl::StrAppend(&text, "; written ", XmlText(o.written));
  if (o.refresh_seconds > 0) {
    absl::StrAppend(&text, ", loaded again every ", o.refresh_seconds, " s");
  }
  return text + "</p>\n";
}

// The policy stands above everything else: no script, nothing from other places.
std::string Head(const PageOptions& o) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n<meta http-equiv=\"Content-Security-Policy\" content=\""
      "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src '",
      kStyleHash, "'\"/>\n<meta name=\"viewport\" content=\"width=device-width\"/>\n",
      o.refresh_seconds > 0
          ? absl::StrCat("<meta http-equiv=\"refresh\" content=\"", o.refresh_seconds, "\"/>\n")
          : "",
      "<title>", XmlText(o.title), "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n");
}

std::string Plural(size_t n, const char* what) {
  return absl::StrCat(n, " ", what, n == 1 ? "" : "s");
}

}  // namespace

std::string CountsOf(const RunContents& contents) {
  size_t curves = 0, pictures = 0;
  for (const Chart& chart : contents.charts) curves += chart.curves.size();
  for (const PictureGroup& group : contents.pictures) pictures += group.pictures.size();
  return absl::StrCat(
      Plural(static_cast<size_t>(contents.files), "file"), ", ", Plural(curves, "curve"), ", ",
      Plural(pictures, "picture"), ", ", Plural(contents.histograms.size(), "histogram"), ", ",
      Plural(contents.texts.size(), "text"), ", ", Plural(contents.graphs.size(), "graph"));
}

std::string RenderPage(const RunContents& contents, const PageOptions& o) {
  const std::vector<std::pair<const char*, std::string>> sections = {
      {"Problems", ProblemCards(contents)},
      {"Loss", ChartCards(contents, ChartKind::kLoss, o)},
      {"Learning rate", ChartCards(contents, ChartKind::kLearningRate, o)},
      {"Other curves", ChartCards(contents, ChartKind::kOther, o)},
      {"Time", ChartCards(contents, ChartKind::kTime, o)},
      {"Pictures", PictureCards(contents)},
      {"Histograms", HistogramCards(contents)},
      {"Texts", TextCards(contents)},
      {"Graph", GraphCards(contents)}};
  std::string links, cards;
  for (size_t i = 0; i < sections.size(); ++i) {
    const auto& [name, text] = sections[i];
    if (text.empty()) continue;
    absl::StrAppend(&links, "<a href=\"#s", i, "\">", name, "</a>\n");
    absl::StrAppend(&cards, "<section aria-labelledby=\"s", i, "\"><h2 id=\"s", i, "\">", name,
                    "</h2>\n<div class=\"grid-of-cards\">\n", text, "</div></section>\n");
  }
  if (cards.empty()) {
    cards =
        "<p>Nothing of a run is here yet: no series or timers, no .csv, .jsonl or event files,"
        " no pictures, no saved graph.</p>\n";
  }
  std::string notes;
  if (contents.beyond_limits) notes += "<p>Some things found no room on this page.</p>";
  if (contents.passed_over > 0) {
    absl::StrAppend(&notes, "<p>", contents.passed_over,
                    " links, folders that are too deep or files that are too many were passed"
                    " over.</p>");
  }
  return absl::StrCat(Head(o), Header(contents, o), "<nav aria-label=\"sections\">\n", links,
                      "</nav></header>\n<main>\n", cards, "</main>\n<footer>", notes,
                      "<p>firn monitor</p></footer>\n</body>\n</html>\n");
}

}  // namespace firn::cli

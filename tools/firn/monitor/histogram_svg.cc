#include "tools/firn/monitor/histogram_svg.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/io/draw/axis.h"
#include "firn/io/draw/svg.h"
#include "firn/io/number_text.h"

namespace firn::cli {
namespace {

using io::draw::SvgElement;
using io::draw::SvgPath;
using io::draw::SvgText;

constexpr double kWidth = 640, kLeft = 20, kRight = 560, kTop = 16, kBottom = 264, kHeight = 300;
constexpr double kHill = 90;  // pixels of the highest
constexpr size_t kMostHills = 10;

// Bars of a histogram side by side, from edges[i] to edges[i + 1].
struct Bars {
  int64_t step = 0;
  double least = 0, largest = 0, count = 0;
  std::vector<double> edges = {}, densities = {};
};

// The outer buckets of some writers end at the largest f64: edges are kept within the values.
Bars BarsOf(const HistogramAt& at) {
  const io::EventHistogram& h = at.histogram;
  Bars bars{.step = at.step, .least = h.min, .largest = h.max, .count = h.num};
  if (!std::isfinite(h.min) || !std::isfinite(h.max) || h.min > h.max) return bars;
  const double width = h.max - h.min;
  if (!std::isfinite(width)) return bars;
  const double room = width > 0 ? 0 : std::max(std::abs(h.min) * 0.01, 1e-9);
  double edge = h.min - room;
  bars.edges.push_back(edge);
  for (size_t i = 0; i < h.buckets.size(); ++i) {
    const double next = std::clamp(h.bucket_limits[i], h.min - room, h.max + room);
    if (!(next > edge) || !(h.buckets[i] >= 0) || !std::isfinite(h.buckets[i])) continue;
    bars.edges.push_back(next);
    bars.densities.push_back(h.buckets[i] / (next - edge));
    edge = next;
  }
  return bars;
}

std::vector<Bars> ChosenBars(const HistogramRow& row) {
  std::vector<Bars> all;
  for (const HistogramAt& at : row.histograms) {
    Bars bars = BarsOf(at);
    if (!bars.densities.empty()) all.push_back(std::move(bars));
  }
  while (all.size() > kMostHills) {
    std::vector<Bars> half;  // every second one, the last one among them
    for (size_t i = (all.size() - 1) % 2; i < all.size(); i += 2) half.push_back(std::move(all[i]));
    all = std::move(half);
  }
  return all;
}

std::string Number(double value) { return io::FormatNumber(value, 4); }

void DrawHill(const Bars& bars, double base, double highest, const io::draw::Axis& axis,
              std::string* svg) {
  const auto x = [&](double value) { return kLeft + (kRight - kLeft) * axis.Place(value); };
  SvgPath path;
  path.MoveTo({x(bars.edges[0]), base});
  for (size_t i = 0; i < bars.densities.size(); ++i) {
    const double y = base - kHill * (highest > 0 ? bars.densities[i] / highest : 0);
    path.LineTo({x(bars.edges[i]), y}).LineTo({x(bars.edges[i + 1]), y});
  }
  path.LineTo({x(bars.edges.back()), base}).Close();
  const std::string hint =
      absl::StrCat("step ", bars.step, ": ", Number(bars.count), " values from ",
                   Number(bars.least), " to ", Number(bars.largest));
  *svg += SvgElement("path", {{"class", "hill"}, {"d", path.text()}}, io::draw::SvgHint(hint));
  *svg += SvgText({kRight + 10, base}, absl::StrCat(bars.step));
}

}  // namespace

std::string DrawHistograms(const HistogramRow& row) {
  const std::vector<Bars> all = ChosenBars(row);
  if (all.empty()) return "";
  std::vector<double> values;
  double highest = 0;
  for (const Bars& bars : all) {
    values.insert(values.end(), {bars.edges.front(), bars.edges.back()});
    highest = std::max(highest, *std::max_element(bars.densities.begin(), bars.densities.end()));
  }
  const io::draw::Axis axis(values, false, 6);
  std::string svg;
  for (const io::draw::Tick& tick : axis.ticks()) {
    const double x = kLeft + (kRight - kLeft) * tick.at;
    const SvgPath line = SvgPath().MoveTo({x, kTop}).LineTo({x, kBottom});
    svg += SvgElement("path", {{"class", "grid"}, {"d", line.text()}});
    svg += SvgText({x, kBottom + 14}, tick.label, io::draw::Align::kCenter);
  }
  const double first = kTop + kHill + 4;
  for (size_t i = 0; i < all.size(); ++i) {
    const double part =
        all.size() == 1 ? 1 : static_cast<double>(i) / static_cast<double>(all.size() - 1);
    DrawHill(all[i], first + (kBottom - first) * part, highest, axis, &svg);
  }
  const SvgPath ground = SvgPath().MoveTo({kLeft, kBottom}).LineTo({kRight, kBottom});
  svg += SvgElement("path", {{"class", "frame"}, {"d", ground.text()}});
  const std::string about =
      absl::StrCat("How the values of ", row.name, " are distributed at ", all.size(), " steps");
  return io::draw::SvgPicture(kWidth, kHeight, {{"role", "img"}, {"aria-label", about}}, svg);
}

}  // namespace firn::cli

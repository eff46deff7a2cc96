// The picture is a frame with ticks, below it the curves; a curve is as many lines as it has
// unbroken runs of points. Its name decides its look (series_names.h), so that training and
// validation of one quantity look alike. Points that fall into one pixel's column are thinned out
// to the first, the least, the largest and the last, which draw the same picture: if x never
// decreases, a million points become at most a few thousand.
#include "firn/io/monitors/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/io/draw/axis.h"
#include "firn/io/draw/canvas.h"
#include "firn/io/monitors/series_names.h"
#include "firn/io/number_text.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using draw::Align;
using draw::Axis;
using draw::Canvas;
using draw::Color;
using draw::Point;

constexpr char kWho[] = "plot";
constexpr Color kFrame{90, 90, 90, "frame"}, kGrid{225, 225, 225, "grid"};
// Okabe and Ito's colours, which colour-blind people can tell apart, without black and yellow.
constexpr Color kColors[] = {{0, 114, 178, "c0"},   {213, 94, 0, "c1"},  {0, 158, 115, "c2"},
                             {204, 121, 167, "c3"}, {230, 159, 0, "c4"}, {86, 180, 233, "c5"}};
constexpr double kKey = 32;  // pixels of a line in the legend, in which dashes can be seen
constexpr const char* kPaleRoles[] = {"c0 pale", "c1 pale", "c2 pale",
                                      "c3 pale", "c4 pale", "c5 pale"};

struct Frame {
  double left, top, right, bottom;  // pixels
  Axis x, y;

  Point At(double x_value, double y_value) const {
    return {left + (right - left) * x.Place(x_value), bottom - (bottom - top) * y.Place(y_value)};
  }
};

absl::Status Check(const std::vector<Series>& series, const PlotOptions& o) {
  FIRN_RETURN_IF(o.width < 200 || o.width > 10000 || o.height < 200 || o.height > 10000,
                 InvalidArgument("a picture of ", o.width, " x ", o.height,
                                 " pixels (want 200 to 10000 each way)"));
  FIRN_RETURN_IF(!(o.smoothing >= 0 && o.smoothing < 1),
                 InvalidArgument("smoothing is ", o.smoothing, " (want 0 to below 1)"));
  for (const Series& one : series) {
    FIRN_RETURN_IF(
        one.x.size() != one.y.size(),
        InvalidArgument("series ", one.name, " has ", one.x.size(), " x and ", one.y.size(), " y"));
  }
  return absl::OkStatus();
}

constexpr double kLetter = 7.5;  // pixels of one in the legend

// A name cut to at most so many letters, 5 or more. The middle is left out, since runs may differ
// at either end.
std::string Shortened(const std::string& name, size_t most) {
  if (name.size() <= most) return name;
  const auto goes_on = [&](size_t at) { return (name[at] & 0xc0) == 0x80; };  // a character
  size_t head = (most - 3) / 2, tail = name.size() - (most - 3 - head);
  while (head > 0 && goes_on(head)) --head;
  while (tail < name.size() && goes_on(tail)) ++tail;
  return absl::StrCat(name.substr(0, head), "...", name.substr(tail));
}

// Pixels for the longest name, at most a third of the picture; 0 without names.
double LegendWidth(const std::vector<Series>& series, const PlotOptions& o) {
  size_t longest = 0;
  for (const Series& one : series) longest = std::max(longest, one.name.size());
  if (!o.legend || longest == 0) return 0;
  return std::min(static_cast<double>(longest) * kLetter + kKey, o.width / 3.0);
}

Frame FrameOf(const std::vector<Series>& series, const PlotOptions& o) {
  std::vector<double> x, y;
  for (const Series& one : series) {
    x.insert(x.end(), one.x.begin(), one.x.end());
    y.insert(y.end(), one.y.begin(), one.y.end());
  }
  // Room for the labels, the title, and tick labels of up to ten letters.
  const double left = o.y_label.empty() ? 80 : 100, top = o.title.empty() ? 20 : 45;
  const double right = o.width - 25 - LegendWidth(series, o),
               bottom = o.height - (o.x_label.empty() ? 35 : 55);
  return {left,
          top,
          right,
          bottom,
          Axis(x, o.log_x, std::max(2, o.width / 100)),
          Axis(y, o.log_y, std::max(2, o.height / 60))};
}

void DrawFrame(const Frame& f, const PlotOptions& o, Canvas* canvas) {
  for (const draw::Tick& tick : f.x.ticks()) {
    const double x = f.left + (f.right - f.left) * tick.at;
    canvas->Line({{x, f.top}, {x, f.bottom}}, kGrid, 1);
    canvas->Line({{x, f.bottom}, {x, f.bottom + 5}}, kFrame, 1);
    canvas->Text({x, f.bottom + 15}, tick.label, Align::kCenter, false);
  }
  for (const draw::Tick& tick : f.y.ticks()) {
    const double y = f.bottom - (f.bottom - f.top) * tick.at;
    canvas->Line({{f.left, y}, {f.right, y}}, kGrid, 1);
    canvas->Line({{f.left - 5, y}, {f.left, y}}, kFrame, 1);
    canvas->Text({f.left - 9, y}, tick.label, Align::kRight, false);
  }
  canvas->Line({{f.left, f.top}, {f.left, f.bottom}, {f.right, f.bottom}}, kFrame, 1);
  const double middle_x = (f.left + f.right) / 2, middle_y = (f.top + f.bottom) / 2;
  canvas->Text({middle_x, 22}, o.title, Align::kCenter, false);
  canvas->Text({middle_x, f.bottom + 38}, o.x_label, Align::kCenter, false);
  canvas->Text({14, middle_y}, o.y_label, Align::kCenter, true);
}

// Adds points of one curve to a line, thinned out.
class Thinner {
 public:
  void Add(Point p) {
    if (!points_.empty() && std::floor(p.x) == std::floor(points_.back().x)) {
      least_ = p.y < least_.y ? p : least_;
      largest_ = p.y > largest_.y ? p : largest_;
      last_ = p;
      ++inside_;
      return;
    }
    Flush();
    points_.push_back(p);
    least_ = largest_ = last_ = p;
  }
  std::vector<Point> Take() {
    Flush();
    return std::exchange(points_, {});
  }

 private:
  void Flush() {
    if (inside_ > 1) {
      points_.push_back(least_);
      points_.push_back(largest_);
    }
    if (inside_ > 0) points_.push_back(last_);
    inside_ = 0;
  }

  std::vector<Point> points_;
  Point least_, largest_, last_;
  int64_t inside_ = 0;  // points after the first one of a column
};

// Whether a line is too short to be seen, such as one point, or several in one place.
bool IsSpeck(const std::vector<Point>& line) {
  constexpr double kSeen = 3;  // pixels
  return std::all_of(line.begin(), line.end(), [&](const Point& p) {
    return std::abs(p.x - line[0].x) < kSeen && std::abs(p.y - line[0].y) < kSeen;
  });
}

void DrawCurve(const Frame& f, const std::vector<double>& x, const std::vector<double>& y,
               const Color& color, double width, size_t dashes, Canvas* canvas) {
  Thinner thinner;
  const auto draw = [&] {
    const std::vector<Point> line = thinner.Take();
    if (line.empty()) return;
    if (IsSpeck(line)) canvas->Line({line[0]}, color, width + 3);
    if (line.size() > 1) canvas->Line(line, color, width, dashes);
  };
  for (size_t i = 0; i < x.size(); ++i) {
    if (f.x.Shows(x[i]) && f.y.Shows(y[i])) {
      thinner.Add(f.At(x[i], y[i]));
    } else {
      draw();
    }
  }
  draw();
}

using Styles = std::vector<LineStyle>;

Styles StylesOf(const std::vector<Series>& series) {
  std::vector<std::string> names;
  for (const Series& one : series) names.push_back(one.name);
  return io::StylesOf(names, std::size(kColors));
}

Color ColorOf(const LineStyle& style) { return kColors[style.color % std::size(kColors)]; }

Color PaleColorOf(const LineStyle& style) {
  const Color color = ColorOf(style);
  const auto pale = [](uint8_t c) { return static_cast<uint8_t>(255 - (255 - c) / 3); };
  return {pale(color.red), pale(color.green), pale(color.blue),
          kPaleRoles[style.color % std::size(kColors)]};
}

// The legend stands beside the plot, where it hides no curve.
void DrawLegend(const Frame& f, double width, const std::vector<Series>& series,
                const Styles& styles, Canvas* canvas) {
  constexpr double kRow = 17;
  const double left = f.right + 12;
  const auto letters = static_cast<size_t>(std::max(5.0, (width - kKey) / kLetter));
  const auto rows = static_cast<size_t>((f.bottom - f.top) / kRow);
  for (size_t i = 0; i < series.size(); ++i) {
    const double y = f.top + kRow * (static_cast<double>(i) + 0.5);
    if (i + 1 >= rows && i + 1 < series.size()) {  // the last row counts the series without one
      const std::string more = absl::StrCat("and ", series.size() - i, " more");
      canvas->Text({left + kKey + 6, y}, more, Align::kLeft, false);
      break;
    }
    canvas->Line({{left, y}, {left + kKey, y}}, ColorOf(styles[i]), 2, styles[i].dashes);
    const std::string name = Shortened(series[i].name, letters);
    canvas->Text({left + kKey + 6, y}, name, Align::kLeft, false);
  }
}

// Strips from top to bottom; the text of each names the first point of every series in it.
void DrawHints(const Frame& f, const std::vector<Series>& series, Canvas* canvas) {
  constexpr double kStrip = 6;  // pixels
  constexpr size_t kMostNames = 12, kMostLetters = 60;
  struct Strip {
    std::string text;
    size_t names = 0, last = SIZE_MAX;
  };
  std::map<int64_t, Strip> strips;
  for (size_t i = 0; i < series.size(); ++i) {
    const Series& one = series[i];
    for (size_t k = 0; k < one.x.size(); ++k) {
      if (!f.x.Shows(one.x[k]) || !f.y.Shows(one.y[k])) continue;
      const double left = f.At(one.x[k], one.y[k]).x - f.left;
      Strip& strip = strips[static_cast<int64_t>(left / kStrip)];
      if (strip.last == i || strip.names == kMostNames) continue;
      strip.last = i;
      ++strip.names;
      absl::StrAppend(&strip.text, strip.text.empty() ? "" : "; ", one.name.substr(0, kMostLetters),
                      one.name.empty() ? "" : " ", FormatNumber(one.y[k], 6), " at ",
                      FormatNumber(one.x[k], 10));
    }
  }
  for (const auto& [at, strip] : strips) {
    const double left = f.left + static_cast<double>(at) * kStrip;
    canvas->Hint({left, f.top}, {left + kStrip, f.bottom}, strip.text);
  }
}

absl::StatusOr<std::string> Draw(const std::string& format, const std::vector<Series>& series,
                                 const PlotOptions& o) {
  FIRN_RETURN_IF_ERROR(Check(series, o));
  FIRN_RETURN_IF(format != "svg" && format != "png",
                 InvalidArgument("the format is \"", format, "\" (want svg or png)"));
  const std::unique_ptr<Canvas> canvas = format == "svg" ? draw::MakeSvgCanvas(o.width, o.height)
                                                         : draw::MakePngCanvas(o.width, o.height);
  const Frame frame = FrameOf(series, o);
  const Styles styles = StylesOf(series);
  DrawFrame(frame, o, canvas.get());
  for (size_t i = 0; i < series.size() && o.smoothing > 0; ++i) {
    DrawCurve(frame, series[i].x, series[i].y, PaleColorOf(styles[i]), 1, 0, canvas.get());
  }
  for (size_t i = 0; i < series.size(); ++i) {
    DrawCurve(frame, series[i].x, draw::Smoothed(series[i].y, o.smoothing), ColorOf(styles[i]), 1.6,
              styles[i].dashes, canvas.get());
  }
  const double legend = LegendWidth(series, o);
  if (legend > 0) DrawLegend(frame, legend, series, styles, canvas.get());
  if (o.hints) DrawHints(frame, series, canvas.get());
  return canvas->Finish();
}

double SecondsOf(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      break;
  }
  RaiseStatus(InvalidArgument("the unit is '", std::string(1, unit), "' (want s, m, h or d)"),
              kWho);
}

}  // namespace

std::string DrawSeries(const std::string& format, const std::vector<Series>& series,
                       const PlotOptions& options) {
  absl::StatusOr<std::string> picture = Draw(format, series, options);
  RaiseIfError(picture.status(), kWho);
  return *std::move(picture);
}

void PlotSeries(const std::string& path, const std::vector<Series>& series,
                const PlotOptions& options) {
  if (!path.ends_with(".svg") && !path.ends_with(".png")) {
    RaiseStatus(InvalidArgument("the path is ", path, " (want one that ends in .svg or .png)"),
                kWho);
  }
  const std::string picture = DrawSeries(path.substr(path.size() - 3), series, options);
  RaiseIfError(inner::internal::ReplaceFile(path, picture, inner::internal::WaitFor::kNothing),
               kWho);
}

void PlotTimer(const std::string& path, const std::vector<std::string>& timers,
               const PlotTimerOptions& options) {
  const double seconds = SecondsOf(options.unit);
  std::vector<Series> series;
  for (const std::string& timer : timers) {
    series.push_back(LoadTimer(timer, options.column));
    for (double& y : series.back().y) y /= seconds;
  }
  TellApart(timers, &series);
  PlotOptions plot = options.plot;
  const char* what = options.column == TimerColumn::kTotal     ? "total time"
                     : options.column == TimerColumn::kElapsed ? "time elapsed"
                                                               : "time per step";
  if (plot.x_label.empty()) plot.x_label = "index";
  if (plot.y_label.empty()) {
    plot.y_label = absl::StrCat(what, " [", std::string(1, options.unit), "]");
  }
  PlotSeries(path, series, plot);
}

}  // namespace firn::io

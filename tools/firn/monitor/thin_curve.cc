// A run takes points until it has as many as the others; when there are too many runs, each two
// neighbours become one, and runs twice as long from then on.
#include "tools/firn/monitor/thin_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace firn::cli {

void ThinCurve::Merge(const Run& later, Run* run) {
  if (later.finite > 0) {
    if (run->finite == 0) {
      run->first = later.first;
      run->least = later.least;
      run->largest = later.largest;
    }
    if (later.least.y < run->least.y) run->least = later.least;
    if (later.largest.y > run->largest.y) run->largest = later.largest;
    run->last = later.last;
  }
  run->finite += later.finite;
  run->not_finite += later.not_finite;
  run->end = later.end;
}

void ThinCurve::AddRun(const Run& run) {
  if (!runs_.empty()) {
    const Run& last = runs_.back();
    const int64_t together = last.finite + last.not_finite + run.finite + run.not_finite;
    if (together <= points_in_run_) return Merge(run, &runs_.back());
  }
  if (runs_.size() == kMostRuns) {
    for (size_t i = 0; i < kMostRuns / 2; ++i) {
      Run both = runs_[2 * i];
      Merge(runs_[2 * i + 1], &both);
      runs_[i] = both;
    }
    runs_.resize(kMostRuns / 2);
    points_in_run_ *= 2;
  }
  runs_.push_back(run);
}

void ThinCurve::Add(double x, double y) {
  const Point p{x, y};
  const bool finite = std::isfinite(x) && std::isfinite(y);
  AddRun({p, p, p, p, p, finite ? 1 : 0, finite ? 0 : 1});
}

void ThinCurve::Append(const ThinCurve& later) {
  points_in_run_ = std::max(points_in_run_, later.points_in_run_);
  for (const Run& run : later.runs_) AddRun(run);
}

void ThinCurve::RemoveFrom(double x) {
  std::vector<Run> kept;
  for (Run& run : runs_) {
    if (!(run.first.x < x)) continue;
    if (!(run.end.x < x) && run.finite == 0) {
      run.end = run.first;
      run.not_finite = std::max<int64_t>(run.not_finite / 2, 1);  // nobody knows
    } else if (!(run.end.x < x)) {
      for (Point* p : {&run.least, &run.largest}) {
        if (!(p->x < x)) *p = run.first;
      }
      run.last = run.end = run.least.x > run.largest.x ? run.least : run.largest;
      run.not_finite = 0;
      run.finite = std::max<int64_t>(run.finite / 2, 1);  // nobody knows
    }
    kept.push_back(run);
  }
  runs_ = std::move(kept);
}

std::vector<ThinCurve::Point> ThinCurve::PointsOf(const Run& run) {
  if (run.finite == 0) return {{run.end.x, std::numeric_limits<double>::quiet_NaN()}};
  std::vector<Point> points = {run.first, run.least, run.largest, run.last};
  if (points[1].x > points[2].x) std::swap(points[1], points[2]);
  const auto same = [](const Point& a, const Point& b) { return a.x == b.x && a.y == b.y; };
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
  return points;
}

io::Series ThinCurve::Points(const std::string& name) const {
  io::Series series{.name = name};
  for (const Run& run : runs_) {
    for (const Point& p : PointsOf(run)) {
      series.x.push_back(p.x);
      series.y.push_back(p.y);
    }
  }
  return series;
}

ThinCurve::Summary ThinCurve::Summarize() const {
  Summary s;
  for (const Run& run : runs_) {
    if (run.finite > 0) {
      s.least = s.finite == 0 ? run.least.y : std::min(s.least, run.least.y);
      s.largest = s.finite == 0 ? run.largest.y : std::max(s.largest, run.largest.y);
    }
    s.finite += run.finite;
    s.not_finite += run.not_finite;
    s.last_x = run.end.x;
    s.last_y = run.end.y;
  }
  return s;
}

}  // namespace firn::cli

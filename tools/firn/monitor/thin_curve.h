#ifndef FIRN_TOOLS_FIRN_MONITOR_THIN_CURVE_H_
#define FIRN_TOOLS_FIRN_MONITOR_THIN_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "firn/io/monitors/series.h"

namespace firn::cli {

// A curve of any number of points in constant memory: the first, the least, the largest and the
// last point of each of at most 512 runs of neighbours, all of the same length. Exact up to 512
// points. Thread-compatible.
class ThinCurve {
 public:
  static constexpr size_t kMostRuns = 512;

  // A y that is not finite is counted, and breaks the curve if all of a run are so.
  void Add(double x, double y);
  // All points of another curve, which come later.
  void Append(const ThinCurve& later);
  // Removes the points whose x is not below `x`, because the run makes them again. A run that has
  // both kinds keeps those that are known.
  void RemoveFrom(double x);
  // At most 4 * kMostRuns points.
  io::Series Points(const std::string& name) const;

  struct Summary {
    int64_t finite = 0, not_finite = 0;
    double least = 0, largest = 0;  // of the finite ones, 0 without any
    double last_x = 0, last_y = 0;  // the last point, whatever it is
  };
  Summary Summarize() const;
  bool empty() const { return runs_.empty(); }
  // The most memory that it can take.
  static constexpr int64_t MaxBytes() { return static_cast<int64_t>(kMostRuns * sizeof(Run)); }

 private:
  struct Point {
    double x = 0, y = 0;
  };
  struct Run {
    Point first, least, largest, last;  // of the finite ones
    Point end;                          // the last one of all
    int64_t finite = 0, not_finite = 0;
  };
  static void Merge(const Run& later, Run* run);
  static std::vector<Point> PointsOf(const Run& run);
  void AddRun(const Run& run);

  std::vector<Run> runs_;
  int64_t points_in_run_ = 1;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_THIN_CURVE_H_

#ifndef FIRN_IO_DRAW_AXIS_H_
#define FIRN_IO_DRAW_AXIS_H_

#include <string>
#include <vector>

namespace firn::io::draw {

struct Tick {
  double at = 0;  // 0 to 1 along the axis
  std::string label;
};

// One axis: from numbers to places between 0 and 1. A plain value.
class Axis {
 public:
  // An axis on which all of `values` that it can show have a place, with round numbers at about
  // `ticks` places. Without any such value it goes from 0 to 1, or from 1 to 10 when logarithmic.
  Axis(const std::vector<double>& values, bool logarithmic, int ticks);
  // Whether a number has a place: finite, and positive on a logarithmic axis.
  bool Shows(double value) const;
  double Place(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void AddLinearTicks(int ticks);
  void AddLogarithmicTicks(int ticks);
  double Scaled(double value) const;

  bool logarithmic_;
  double from_ = 0, to_ = 1;  // scaled
  std::vector<Tick> ticks_;
};

// The moving average of PlotOptions::smoothing. Numbers that are not finite stay and do not count.
std::vector<double> Smoothed(const std::vector<double>& values, double smoothing);

}  // namespace firn::io::draw

#endif  // FIRN_IO_DRAW_AXIS_H_

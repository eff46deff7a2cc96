#ifndef FIRN_IO_MONITORS_PLOT_H_
#define FIRN_IO_MONITORS_PLOT_H_

// Curves of series and timers as SVG or PNG.
//
//   io::PlotSeries("loss.svg", {io::LoadSeries("results/loss.series.txt")}, {.smoothing = 0.9});

#include <string>
#include <vector>

#include "firn/io/monitors/series.h"

namespace firn::io {

struct PlotOptions {
  std::string title = {};
  std::string x_label = {}, y_label = {};
  int width = 800, height = 500;      // pixels, 200 to 10000
  bool log_x = false, log_y = false;  // logarithmic axes; points that are not positive are left out
  // 0 to below 1: each point becomes smoothing * the one before + (1 - smoothing) * itself, divided
  // by the sum of the weights, as TensorBoard does. The raw curve stays in the background.
  double smoothing = 0;
  bool legend = true;  // names of the series
  // SVG only: a viewer shows the numbers at the pointer.
  bool hints = false;
};

// Draws all series into one picture, each in a colour of its own; names that differ only in a word
// for the part of the data ("training loss" and "validation loss", "loss/train" and "loss/test")
// share one, the curve of the validation being dashed and that of the test dotted. Each has its
// name in the legend, long ones without their middle.
//
// The picture is SVG or PNG as the path ends in .svg or .png, which is replaced whole or not at
// all, and not waited for (WriteImage). Points that are NaN or infinite are left out and break the
// line. Text in PNG is ASCII; other characters become "?". Throws firn::Error: InvalidArgument for
// options that make no sense, another ending, and series whose x and y are not equally many; else
// what the system says, naming the path.
void PlotSeries(const std::string& path, const std::vector<Series>& series,
                const PlotOptions& options = {});

// The same picture as a string, in the format "svg" or "png".
std::string DrawSeries(const std::string& format, const std::vector<Series>& series,
                       const PlotOptions& options = {});

struct PlotTimerOptions {
  TimerColumn column = TimerColumn::kTotal;
  char unit = 's';        // of time: 's', 'm' (minutes), 'h' or 'd'
  PlotOptions plot = {};  // empty labels become "index" and what the column is
};

// Draws the timers of some monitors' files (LoadTimer). Throws as LoadTimer and PlotSeries, and
// InvalidArgument for another unit.
void PlotTimer(const std::string& path, const std::vector<std::string>& timers,
               const PlotTimerOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_PLOT_H_

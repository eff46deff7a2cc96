#ifndef FIRN_IO_MONITORS_MONITOR_H_
#define FIRN_IO_MONITORS_MONITOR_H_

// NNabla's monitors of a training run, in its file formats (nnabla.monitor): series of numbers and
// of times as text, images as PNG.
//
//   io::Monitor monitor("results");
//   io::MonitorSeries loss("training loss", monitor, {.interval = 10});
//   loss.Add(step, value);  // results/training-loss.series.txt: "9 0.693147"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "firn/tensor/tensor.h"

namespace firn::io {

// The folder that monitors write to.
class Monitor {
 public:
  // Makes the folder, and those above it. Throws firn::Error naming the path.
  explicit Monitor(const std::string& save_path);
  const std::string& save_path() const { return save_path_; }
  // Where a monitor of this name writes: blanks become hyphens, as in NNabla. Throws
  // kInvalidArgument for an empty name, "..", and one with a slash or NUL in it.
  std::string PathOf(const std::string& name, const std::string& suffix) const;

 private:
  std::string save_path_;
};

struct MonitorSeriesOptions {
  int64_t interval = 1;             // indices from one line to the next, >= 1
  std::ostream* verbose = nullptr;  // also gets each line, as "iter=9 {loss}=0.693147"
  // For a run that goes on: the first index that it adds. Lines before it stay; those from it on,
  // and a partial last line, are removed. Unset: the file begins anew, as NNabla's.
  std::optional<int64_t> resume_at = {};
};

// "<index> <mean>" in <name>.series.txt, the mean with six digits (%g) over the numbers since the
// line before. Thread-compatible.
class MonitorSeries {
 public:
  // Throws firn::Error for options and names that make no sense, and when the file cannot be
  // written.
  MonitorSeries(const std::string& name, const Monitor& monitor,
                const MonitorSeriesOptions& options = {});
  ~MonitorSeries();
  MonitorSeries(MonitorSeries&&) noexcept;
  MonitorSeries& operator=(MonitorSeries&&) noexcept;

  // Writes a line when `index` is `interval` or more beyond that of the line before (-1 at first).
  // A NaN or infinite number is written as such. Throws kResourceExhausted for a full disk,
  // kNotFound when the file was removed; the numbers are then kept for the next line.
  void Add(int64_t index, double value);
  // The only element of a tensor, which is read here, so the call waits for the tensor's device.
  // That is so for every call, not only when a line is due: add numbers that are computed already,
  // or only every `interval` steps.
  void Add(int64_t index, const Tensor& value) { Add(index, value.Item<double>()); }
  const std::string& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct MonitorTimeElapsedOptions {
  int64_t interval = 100;
  std::ostream* verbose = nullptr;
  std::optional<int64_t> resume_at = {};  // as for series; times go on from the last line's total
  std::function<double()> clock = {};     // seconds; for tests
};

// "<index> <seconds since the line before> <indices since then> <seconds in total>" in
// <name>.timer.txt. Thread-compatible.
class MonitorTimeElapsed {
 public:
  // Throws as MonitorSeries.
  MonitorTimeElapsed(const std::string& name, const Monitor& monitor,
                     const MonitorTimeElapsedOptions& options = {});
  ~MonitorTimeElapsed();
  MonitorTimeElapsed(MonitorTimeElapsed&&) noexcept;
  MonitorTimeElapsed& operator=(MonitorTimeElapsed&&) noexcept;

  // Throws as MonitorSeries::Add.
  void Add(int64_t index);
  const std::string& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_MONITOR_H_

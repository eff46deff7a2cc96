#ifndef FIRN_IO_PROGRESS_PROGRESS_H_
#define FIRN_IO_PROGRESS_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace firn::io {

namespace internal {
std::ostream* StandardError();  // &std::cerr
}

struct ProgressOptions {
  std::string label = {};                         // in front: "epoch 1"
  bool quiet = false;                             // print nothing
  std::ostream* out = internal::StandardError();  // outlives the bar
  // Whether `out` is a terminal; unset: found out for std::cerr and std::cout, no for others.
  std::optional<bool> terminal = {};
  // The number of lines that a loop writes if `out` is no terminal, as evenly spaced as steps
  // allow, the last one at its end: 10 means one for each tenth of the way, 0 none.
  int64_t log_lines = 1;
  int width = 30;                      // of the bar, in characters
  double interval = 0.1;               // seconds between two drawings on a terminal
  std::function<double()> clock = {};  // seconds; the steady clock when unset
};

// Shows the progress of a loop of known length. On a terminal it redraws one line:
//   epoch 1 [===========>        ] 550/938  58.6%  81.2 it/s  ETA 0:04  loss 0.3512
// elsewhere (a file, a pipe) it writes a plain line at the end, or several (`log_lines`):
//   epoch 1 938/938  100.0%  81.2 it/s  in 0:12  loss 0.2871
// A loop of no known length (`total` 0 or less) shows nothing. Thread-compatible.
class ProgressMeter {
 public:
  // Throws firn::Error when `out` is null, or width or log_lines is negative.
  ProgressMeter(int64_t total, ProgressOptions options);
  // Ends the line on a terminal, so that the next output starts a new one.
  ~ProgressMeter();
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;

  // One more step is done.
  void Step();
  // Begins again. `done` steps were done by an earlier loop and do not count for rate and time.
  void Restart(int64_t done = 0);
  // Text shown at the end of the line from now on: "loss 0.3512".
  void Note(std::string text) { note_ = std::move(text); }

 private:
  // Whether the step that is done now completes one of log_lines parts of the way.
  bool EndsAPart() const;
  void Print(double now);
  void EndLine();

  const int64_t total_;
  const ProgressOptions options_;
  const bool terminal_;
  double start_;
  int64_t first_ = 0;  // steps that were done at start_
  int64_t done_ = 0;
  double printed_at_ = 0;
  size_t printed_width_ = 0;  // of the line on the terminal; 0 if nothing is there
  std::string note_;
};

// A range with a progress bar, made by ProgressBar below.
template <class Range>
class ProgressRange {
 public:
  using Inner = decltype(std::declval<Range&>().begin());

  ProgressRange(Range& range, ProgressOptions options)
      : range_(range), meter_(static_cast<int64_t>(range.size()), std::move(options)) {}

  class Iterator {
   public:
    Iterator(Inner inner, ProgressMeter& meter) : inner_(std::move(inner)), meter_(&meter) {}
    decltype(auto) operator*() const { return *inner_; }
    Iterator& operator++() {
      meter_->Step();
      ++inner_;
      return *this;
    }
    template <class End>
    bool AtEnd(const End& end) const {
      return inner_ == end;
    }

   private:
    Inner inner_;
    ProgressMeter* meter_;
  };
  struct End {
    decltype(std::declval<Range&>().end()) end;
    friend bool operator==(const Iterator& i, const End& e) { return i.AtEnd(e.end); }
  };

  Iterator begin() {
    Inner inner = range_.begin();
    if constexpr (requires { static_cast<int64_t>(inner.batch()); }) {
      meter_.Restart(inner.batch());
    } else {
      meter_.Restart();
    }
    return Iterator(std::move(inner), meter_);
  }
  End end() { return {range_.end()}; }
  // See ProgressMeter::Note.
  void Note(std::string text) { meter_.Note(std::move(text)); }

 private:
  Range& range_;
  ProgressMeter meter_;
};

// `for (auto [images, labels] : ProgressBar(train))` goes through `range` (a DataLoader, a
// container: anything with begin, end and size) and shows the progress. For a loader that goes on
// inside an epoch, the bar starts at that place. The range outlives the result, which serves one
// loop after the other.
template <class Range>
ProgressRange<Range> ProgressBar(Range& range, ProgressOptions options = {}) {
  return ProgressRange<Range>(range, std::move(options));
}

}  // namespace firn::io

#endif  // FIRN_IO_PROGRESS_PROGRESS_H_

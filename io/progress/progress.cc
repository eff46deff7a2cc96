// The rate is that of the whole loop so far, which is steady, and ETA = steps left / rate. A line
// that got shorter is padded with blanks, so that nothing of the longer one stays on the terminal.
#include "firn/io/progress/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

double Now(const ProgressOptions& options) {
  if (options.clock) return options.clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool IsTerminal(const ProgressOptions& options) {
  if (options.terminal.has_value()) return *options.terminal;
  if (options.out == &std::cerr) return isatty(STDERR_FILENO) != 0;
  if (options.out == &std::cout) return isatty(STDOUT_FILENO) != 0;
  return false;
}

ProgressOptions Checked(ProgressOptions options) {
  const auto require = [](bool ok, const char* what, int64_t got) {
    if (!ok) RaiseStatus(InvalidArgument(what, " is ", got, " (want >= 0)"), "progress bar");
  };
  require(options.width >= 0, "width", options.width);
  require(options.log_lines >= 0, "log_lines", options.log_lines);
  if (options.out == nullptr) RaiseStatus(InvalidArgument("the stream is null"), "progress bar");
  return options;
}

// "0:04", "1:02:03".
std::string Clock(double seconds) {
  const auto s = static_cast<int64_t>(std::min(std::ceil(seconds), 1e9));
  if (s < 3600) return absl::StrFormat("%d:%02d", s / 60, s % 60);
  return absl::StrFormat("%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
}

std::string Bar(double fraction, int width) {
  const int full = std::clamp(static_cast<int>(fraction * width), 0, width);
  std::string bar(static_cast<size_t>(width), ' ');
  std::fill_n(bar.begin(), full, '=');
  if (full < width) bar[static_cast<size_t>(full)] = '>';
  return bar;
}

}  // namespace

std::ostream* internal::StandardError() { return &std::cerr; }

ProgressMeter::ProgressMeter(int64_t total, ProgressOptions options)
    : total_(total),
      options_(Checked(std::move(options))),
      terminal_(IsTerminal(options_)),
      start_(Now(options_)),
      printed_at_(start_) {}

ProgressMeter::~ProgressMeter() { EndLine(); }

void ProgressMeter::EndLine() {
  if (printed_width_ != 0) *options_.out << "\n" << std::flush;
  printed_width_ = 0;
}

void ProgressMeter::Restart(int64_t done) {
  EndLine();
  first_ = done_ = done;
  start_ = printed_at_ = Now(options_);
}

void ProgressMeter::Step() {
  ++done_;
  if (options_.quiet || total_ <= 0) return;
  if (!terminal_ && !EndsAPart()) return;  // skips steps without reading the clock
  const double now = Now(options_);
  if (terminal_ && done_ != total_ && now - printed_at_ < options_.interval) return;
  Print(now);
  printed_at_ = now;
}

bool ProgressMeter::EndsAPart() const {
  const int64_t lines = std::min(options_.log_lines, total_);
  const auto parts = [&](int64_t steps) {
    return static_cast<double>(steps) * static_cast<double>(lines) / static_cast<double>(total_);
  };
  return done_ <= total_ && std::floor(parts(done_)) != std::floor(parts(done_ - 1));
}

void ProgressMeter::Print(double now) {
  const double fraction = static_cast<double>(done_) / static_cast<double>(total_);
  const double seconds = std::max(now - start_, 1e-9);
  const double rate = static_cast<double>(done_ - first_) / seconds;
  std::string line = options_.label.empty() ? "" : absl::StrCat(options_.label, " ");
  if (terminal_) absl::StrAppend(&line, "[", Bar(fraction, options_.width), "] ");
  absl::StrAppendFormat(&line, "%d/%d  %.1f%%  %.4g it/s", done_, total_, 100 * fraction, rate);
  if (done_ < total_) {
    absl::StrAppend(&line, "  ETA ", Clock(static_cast<double>(total_ - done_) / rate));
  } else {
    absl::StrAppend(&line, "  in ",
                    seconds < 0.995 ? absl::StrFormat("%.2g s", seconds) : Clock(seconds));
  }
  if (!note_.empty()) absl::StrAppend(&line, "  ", note_);
  if (!terminal_) {
    *options_.out << line << "\n" << std::flush;
    return;
  }
  const size_t width = line.size();
  if (width < printed_width_) line.append(printed_width_ - width, ' ');
  *options_.out << "\r" << line << std::flush;
  printed_width_ = width;
}

}  // namespace firn::io

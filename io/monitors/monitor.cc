// A line is due when the index is an interval beyond the last line's; numbers wait in a sum until
// then. Nothing changes before the line is in the file.
#include "firn/io/monitors/monitor.h"

#include <chrono>
#include <filesystem>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "firn/device/status_macros.h"
#include "firn/io/monitors/internal/append_file.h"
#include "firn/io/monitors/internal/open_records.h"
#include "firn/io/monitors/line_file.h"
#include "firn/io/number_text.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using internal::AppendFile;
using internal::OpenRecords;

constexpr char kWho[] = "monitor";

template <class T>
T ValueOr(absl::StatusOr<T> value) {
  if (!value.ok()) RaiseStatus(value.status(), kWho);
  return *std::move(value);
}

// What series and timers have in common: the file, and when a line is due.
class Lines {
 public:
  // Calls kept(fields) for each line, up to the first one for which it returns false; that line and
  // all behind it are removed.
  template <class Kept>
  Lines(const std::string& name, const std::string& path, int64_t interval, std::ostream* verbose,
        std::optional<int64_t> resume_at, size_t fields, Kept kept)
      : name_(name), interval_(interval), verbose_(verbose) {
    if (interval < 1) {
      RaiseStatus(InvalidArgument(name, ": interval is ", interval, " (want >= 1)"), kWho);
    }
    std::function<bool(std::string_view)> keep;
    absl::Status foreign;
    int64_t number = 0;
    if (resume_at.has_value()) {
      // Lines that are not a monitor's are kept, so that another program's file stays whole.
      keep = [&](std::string_view line) {
        ++number;
        while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
        const std::vector<std::string> words = absl::StrSplit(std::string(line), ' ');
        const std::optional<int64_t> index = ParseInteger(words[0]);
        if (words.size() != fields || !index.has_value() || *index < 0 || !kept(words)) {
          if (foreign.ok()) {
            foreign = DataLoss(path, ": line ", number, ": expected an index and ", fields - 1,
                               fields == 2 ? " number" : " numbers");
          }
          return true;
        }
        if (*index >= *resume_at) return false;
        last_ = *index;
        return true;
      };
    }
    file_ = ValueOr(OpenRecords(path, SplitLine, keep, [&] { return foreign; }));
  }

  // Indices and intervals of any size: their difference may not fit.
  bool IsDue(int64_t index) const {
    return index > last_ && (last_ < 0 ? index >= interval_ - 1 : index - last_ >= interval_);
  }
  int64_t last() const { return last_; }
  const std::string& path() const { return file_.path(); }

  void Write(int64_t index, const std::string& rest, const std::string& said) {
    RaiseIfError(file_.Append(absl::StrCat(index, " ", rest, "\n")), kWho);
    last_ = index;
    if (verbose_ != nullptr) {
      *verbose_ << "iter=" << index << " {" << name_ << "}=" << said << "\n" << std::flush;
    }
  }

 private:
  std::string name_;
  int64_t interval_;
  std::ostream* verbose_;
  internal::AppendFile file_;
  int64_t last_ = -1;
};

double Now(const std::function<double()>& clock) {
  if (clock) return clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Monitor::Monitor(const std::string& save_path) : save_path_(save_path) {
  std::error_code error;
  std::filesystem::create_directories(save_path, error);
  if (!error && !std::filesystem::is_directory(save_path, error) && !error) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) {
    RaiseStatus(
        absl::ErrnoToStatus(error.value(), absl::StrCat("cannot make the folder ", save_path)),
        kWho);
  }
}

std::string Monitor::PathOf(const std::string& name, const std::string& suffix) const {
  if (name.empty() || name == ".." || name == "." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    RaiseStatus(InvalidArgument("the name of a monitor is \"", name,
                                "\" (want one of a file, without slashes)"),
                kWho);
  }
  std::string file = name;
  for (char& c : file) {
    if (c == ' ') c = '-';
  }
  return (std::filesystem::path(save_path_) / (file + suffix)).string();
}

struct MonitorSeries::Impl {
  Lines lines;
  double sum = 0;
  int64_t count = 0;
};

MonitorSeries::MonitorSeries(const std::string& name, const Monitor& monitor,
                             const MonitorSeriesOptions& o)
    : impl_(new Impl{Lines(name, monitor.PathOf(name, ".series.txt"), o.interval, o.verbose,
                           o.resume_at, 2, [](const std::vector<std::string>& words) {
                             return ParseNumber(words[1]).has_value();
                           })}) {}
MonitorSeries::~MonitorSeries() = default;
MonitorSeries::MonitorSeries(MonitorSeries&&) noexcept = default;
MonitorSeries& MonitorSeries::operator=(MonitorSeries&&) noexcept = default;

void MonitorSeries::Add(int64_t index, double value) {
  impl_->sum += value;
  ++impl_->count;
  if (!impl_->lines.IsDue(index)) return;
  const std::string mean = FormatNumber(impl_->sum / static_cast<double>(impl_->count), 6);
  impl_->lines.Write(index, mean, mean);
  impl_->sum = 0;
  impl_->count = 0;
}

const std::string& MonitorSeries::path() const { return impl_->lines.path(); }

struct MonitorTimeElapsed::Impl {
  std::function<double()> clock;
  double before = 0;  // seconds of the run that this one goes on with
  Lines lines;
  double start = 0, lap = 0;
};

MonitorTimeElapsed::MonitorTimeElapsed(const std::string& name, const Monitor& monitor,
                                       const MonitorTimeElapsedOptions& o) {
  double before = 0;
  const auto kept = [&before](const std::vector<std::string>& words) {
    const std::optional<double> total = ParseNumber(words[3]);
    if (total.has_value()) before = *total;
    return total.has_value();
  };
  Lines lines(name, monitor.PathOf(name, ".timer.txt"), o.interval, o.verbose, o.resume_at, 4,
              kept);
  const double now = Now(o.clock);
  impl_.reset(new Impl{o.clock, before, std::move(lines), now, now});
}
MonitorTimeElapsed::~MonitorTimeElapsed() = default;
MonitorTimeElapsed::MonitorTimeElapsed(MonitorTimeElapsed&&) noexcept = default;
MonitorTimeElapsed& MonitorTimeElapsed::operator=(MonitorTimeElapsed&&) noexcept = default;

void MonitorTimeElapsed::Add(int64_t index) {
  Impl& impl = *impl_;
  if (!impl.lines.IsDue(index)) return;
  const double now = Now(impl.clock);
  const double lap = now - impl.lap, total = impl.before + (now - impl.start);
  const int64_t steps = index - impl.lines.last();
  impl.lines.Write(index, absl::StrFormat("%.9g %d %.9g", lap, steps, total),
                   absl::StrFormat("%.6g[sec/%diter] %.6g[sec]", lap, steps, total));
  impl.lap = now;
}

const std::string& MonitorTimeElapsed::path() const { return impl_->lines.path(); }

}  // namespace firn::io

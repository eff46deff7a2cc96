// The text tables of a profile: rows added up by operation, and by module with all that is inside.

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "firn/autograd/profile.h"
#include "firn/device/text_table.h"

namespace firn {
namespace {

using inner::internal::AlignedText;
using inner::internal::BytesText;
using Lines = std::vector<std::vector<std::string>>;

// What rows add up to.
struct Sum {
  int64_t calls = 0;
  double forward = 0, backward = 0;  // seconds
  std::optional<double> flop;
  int64_t bytes = 0;

  double seconds() const { return forward + backward; }
  void Add(const Profile::Row& row) {
    calls += row.calls;
    (row.phase == Phase::kForward ? forward : backward) += row.seconds;
    if (row.flop.has_value()) flop = flop.value_or(0) + *row.flop;
    bytes += row.bytes;
  }
};

std::string Number(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string Milliseconds(double seconds) { return Number("%.3f", seconds * 1e3); }
std::string Percent(double part, double whole) {
  return whole > 0 ? Number("%.1f%%", 100 * part / whole) : "-";
}
std::string Giga(std::optional<double> value) {
  return value.has_value() ? Number("%.3f", *value / 1e9) : "-";
}
std::string GigaPerSecond(double value, double seconds) {
  return value > 0 && seconds > 0 ? Number("%.1f", value / seconds / 1e9) : "-";
}

// "10 runs, 12.345 ms each (median); operations take 93.1% of the time".
std::string Heading(const Profile& p) {
  return absl::StrCat(p.runs, p.runs == 1 ? " run, " : " runs, ",
                      Milliseconds(p.median_run_seconds), p.runs == 1 ? " ms" : " ms each (median)",
                      "; operations take ", Percent(p.operation_seconds, p.seconds),
                      " of the time\n");
}

// The median of one call over several rows.
double MedianOf(const Profile& p, const std::string& operation) {
  std::vector<double> times;
  for (const Profile::Event& e : p.events) {
    if (p.rows[e.row].operation == operation) times.push_back(e.seconds);
  }
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  return n == 0 ? 0 : (times[(n - 1) / 2] + times[n / 2]) / 2;
}

using Path = std::vector<std::string>;

Path PathOf(const Profile::Row& row) {
  return row.path.empty() ? Path() : Path(absl::StrSplit(row.path, '.'));
}

}  // namespace

std::string Profile::ByOperation() const {
  std::map<std::string, Sum> sums;
  for (const Row& row : rows) sums[row.operation].Add(row);
  std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.seconds() > b.second.seconds();
  });
  Lines lines = {{"operation", "calls", "total ms", "share", "median ms", "GFLOP", "GFLOP/s",
                  "memory", "GB/s"}};
  for (const auto& [name, sum] : order) {
    lines.push_back({name, absl::StrCat(sum.calls), Milliseconds(sum.seconds()),
                     Percent(sum.seconds(), operation_seconds), Milliseconds(MedianOf(*this, name)),
                     Giga(sum.flop), GigaPerSecond(sum.flop.value_or(0), sum.seconds()),
                     BytesText(sum.bytes),
                     GigaPerSecond(static_cast<double>(sum.bytes), sum.seconds())});
  }
  return Heading(*this) + AlignedText(lines, 1);
}

std::string Profile::ByModule() const {
  std::map<Path, Sum> sums;
  Sum outside, all;
  for (const Row& row : rows) {
    all.Add(row);
    const Path path = PathOf(row);
    if (path.empty()) outside.Add(row);
    for (size_t depth = 1; depth <= path.size(); ++depth) {
      sums[Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth))].Add(row);
    }
  }
  Lines lines = {{"module", "calls", "forward ms", "backward ms", "share", "GFLOP", "memory"}};
  const auto add = [&](const std::string& name, const Sum& sum) {
    lines.push_back({name, absl::StrCat(sum.calls), Milliseconds(sum.forward),
                     Milliseconds(sum.backward), Percent(sum.seconds(), operation_seconds),
                     Giga(sum.flop), BytesText(sum.bytes)});
  };
  // A path stands before the paths that continue it.
  for (const auto& [path, sum] : sums) {
    add(std::string(2 * (path.size() - 1), ' ') + path.back(), sum);
  }
  if (outside.calls != 0) add("(no module)", outside);
  add("all", all);
  return Heading(*this) + AlignedText(lines, 1);
}

std::ostream& operator<<(std::ostream& out, const Profile& profile) {
  return out << profile.ByOperation();
}

}  // namespace firn

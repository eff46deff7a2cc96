// The table of static_vs_dynamic: cells padded to the widths of their columns.
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/versus_report.h"

namespace firn::benchmarks {
namespace {

// Three digits or more, whatever the size.
std::string Milliseconds(double ms) {
  return absl::StrFormat("%.*f", ms < 1 ? 4 : ms < 100 ? 3 : 1, ms);
}

std::string TimeOf(const VersusMode& mode) {
  const BlockSummary s = Summarize(mode.blocks);
  return absl::StrCat(Milliseconds(s.median_ms), " (", Milliseconds(s.spread), ")");
}

std::string LossesOf(const VersusResult& r) {
  const std::string curve =
      absl::StrFormat("%.3f -> %.3f, ", r.dynamic.losses.front(), r.dynamic.losses.back());
  if (!r.frozen.has_value()) return curve + "only dynamic";
  const double gap = r.LossGap();
  return curve + (gap == 0 ? "equal" : absl::StrFormat("%.1e apart", gap));
}

// A step that waits for its device is a defect, and its time does not measure the device.
std::string WaitsOf(const VersusResult& r) {
  const int64_t frozen = r.frozen.has_value() ? r.frozen->waits : 0;
  if (r.dynamic.waits == 0 && frozen == 0) return "";
  return absl::StrFormat(", waits in a block: %d dynamic, %d static", r.dynamic.waits, frozen);
}

constexpr size_t kColumns = 10;

std::string Line(const std::array<std::string, kColumns>& cells) {
  constexpr int kWidths[kColumns] = {-22, 18, 18, 20, 8, 9, 18, 10, 6, 0};
  std::string line;
  for (size_t i = 0; i < kColumns; ++i) {
    absl::StrAppendFormat(&line, "%s%*s", i == 0 ? "" : "  ", kWidths[i], cells[i]);
  }
  return line + "\n";
}

}  // namespace

std::string TableTitle(const VersusContext& context) {
  const bool cpu = context.device == "cpu";
  return absl::StrFormat("on %s (%s), precision %s, times by %s\n", context.device,
                         cpu ? context.machine.cpu : context.machine.gpus, context.arithmetic,
                         cpu ? "the clock" : "the device's events");
}

std::string TableHead() {
  return Line({"workload", "dynamic ms (IQR)", "static ms (IQR)", "dynamic/static (95%)", "peak MB",
               "static MB", "capture+compile ms", "pays off", "others", "losses"});
}

std::string TableLine(const VersusResult& r) {
  std::array<std::string, kColumns> cells;
  cells.fill("-");
  cells[0] = r.config.Label();
  cells[1] = TimeOf(r.dynamic);
  cells[4] = absl::StrFormat("%.1f", r.dynamic.peak_mb);
  cells[8] = absl::StrFormat("%.0f%%", r.others * 100);
  cells[9] = LossesOf(r) + WaitsOf(r);
  if (!r.frozen.has_value()) return Line(cells);
  const RatioInterval ratio = PairedRatio(r.dynamic.blocks, r.frozen->blocks);
  const std::optional<int64_t> steps = r.PaysOffAfter();
  cells[2] = TimeOf(*r.frozen);
  cells[3] = absl::StrFormat("%.3f (%.3f..%.3f)", ratio.ratio, ratio.low, ratio.high);
  cells[5] = absl::StrFormat("%.1f", r.frozen->peak_mb);
  cells[6] = absl::StrCat(Milliseconds(r.capture_ms), " + ", Milliseconds(r.compile_ms));
  cells[7] = steps.has_value() ? absl::StrCat(*steps, " steps") : "never";
  return Line(cells);
}

}  // namespace firn::benchmarks

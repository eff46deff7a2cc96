// A row or a comparison is an object on a line of its own.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "benchmarks/versus_report.h"
#include "firn/device/escape.h"

namespace firn::benchmarks {
namespace {

using inner::internal::JsonString;

// JSON knows neither infinity nor NaN.
std::string Number(double x) { return std::isfinite(x) ? absl::StrFormat("%.9g", x) : "null"; }

std::string Numbers(const std::vector<double>& all) {
  return absl::StrCat(
      "[", absl::StrJoin(all, ", ", [](std::string* out, double x) { out->append(Number(x)); }),
      "]");
}

// Keys and values that are JSON already.
using Fields = std::vector<std::pair<const char*, std::string>>;

std::string Object(const Fields& fields) {
  return absl::StrCat("{",
                      absl::StrJoin(fields, ", ",
                                    [](std::string* out, const auto& f) {
                                      absl::StrAppend(out, JsonString(f.first), ": ", f.second);
                                    }),
                      "}");
}

Fields FieldsOf(const VersusConfig& config) {
  return {{"workload", JsonString(config.workload)},
          {"depth", absl::StrCat(config.depth)},
          {"batch", absl::StrCat(config.batch)}};
}

std::string Row(const VersusConfig& config, const char* name, const VersusMode& mode,
                const VersusContext& context) {
  const BlockSummary s = Summarize(mode.blocks);
  Fields fields = FieldsOf(config);
  for (auto& field : Fields{{"precision", JsonString(context.precision)},
                            {"task", JsonString("train")},
                            {"framework", JsonString("firn")},
                            {"mode", JsonString(name)},
                            {"threads", absl::StrCat(context.threads)},
                            {"device", JsonString(context.device)},
                            {"median_ms", Number(s.median_ms)},
                            {"spread", Number(s.spread)},
                            {"min_ms", Number(s.min_ms)},
                            {"wall_ms", Number(mode.wall_ms.empty() ? NAN : Median(mode.wall_ms))},
                            {"peak_mb", Number(mode.peak_mb)}}) {
    fields.push_back(std::move(field));
  }
  return Object(fields);
}

std::string ComparisonOf(const VersusResult& r) {
  const RatioInterval ratio = PairedRatio(r.dynamic.blocks, r.frozen->blocks);
  const std::optional<int64_t> steps = r.PaysOffAfter();
  Fields fields = FieldsOf(r.config);
  for (auto& field : Fields{{"ratio", Number(ratio.ratio)},
                            {"ratio_low", Number(ratio.low)},
                            {"ratio_high", Number(ratio.high)},
                            {"capture_ms", Number(r.capture_ms)},
                            {"compile_ms", Number(r.compile_ms)},
                            {"capture_peak_mb", Number(r.capture_peak_mb)},
                            {"pays_off_after", steps.has_value() ? absl::StrCat(*steps) : "null"},
                            {"loss_gap", Number(r.LossGap())},
                            {"losses", Numbers(r.dynamic.losses)},
                            {"waits", absl::StrCat(std::max(r.dynamic.waits, r.frozen->waits))},
                            {"others", Number(r.others)}}) {
    fields.push_back(std::move(field));
  }
  return Object(fields);
}

std::string MachineOf(const MachineFacts& m) {
  return Object({{"cpu", JsonString(m.cpu)},
                 {"cores", absl::StrCat(m.cores)},
                 {"simd", JsonString(m.simd)},
                 {"memory_gb", Number(m.memory_gb)},
                 {"kernel", JsonString(m.kernel)},
                 {"load_at_start", Number(m.load_at_start)},
                 {"gpus", JsonString(m.gpus)}});
}

std::string Lines(const std::vector<std::string>& objects) {
  return absl::StrCat("[\n", absl::StrJoin(objects, ",\n"), "\n]");
}

}  // namespace

std::string VersusJson(absl::Span<const VersusResult> results, const VersusContext& context) {
  std::vector<std::string> rows, comparisons;
  for (const VersusResult& r : results) {
    rows.push_back(Row(r.config, "dynamic", r.dynamic, context));
    if (!r.frozen.has_value()) continue;
    rows.push_back(Row(r.config, "static", *r.frozen, context));
    comparisons.push_back(ComparisonOf(r));
  }
  return absl::StrCat("{\"machine\": ", MachineOf(context.machine),
                      ",\n\"command\": ", JsonString(context.command), ",\n\"rows\": ", Lines(rows),
                      ",\n\"comparisons\": ", Lines(comparisons), "}\n");
}

}  // namespace firn::benchmarks

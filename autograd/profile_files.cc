// The files of a profile: CSV (RFC 4180), and the trace event format of Chrome, which Perfetto
// reads as well: complete events ("ph": "X") with times in microseconds, on a line for each phase.

#include <charconv>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/autograd/profile.h"
#include "firn/device/atomic_file.h"
#include "firn/device/escape.h"
#include "firn/device/inner.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

using internal::CsvField;
using internal::JsonString;

const char* NameOf(Phase phase) { return phase == Phase::kForward ? "forward" : "backward"; }
int LineOf(Phase phase) { return phase == Phase::kForward ? 1 : 2; }

// The shortest text that reads back as this number; a point, whatever the locale.
std::string Exact(double value) {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end.ptr);
}

std::string NameEvent(const char* what, int line, const char* name) {
  return absl::StrCat("{\"name\":\"", what, "\",\"ph\":\"M\",\"pid\":1,\"tid\":", line,
                      ",\"args\":{\"name\":\"", name, "\"}}");
}

}  // namespace

void Profile::WriteCsv(const std::string& path) const {
  std::string text = "operation,path,phase,calls,total_seconds,median_seconds,flop,bytes,share\r\n";
  for (const Row& row : rows) {
    absl::StrAppend(&text, CsvField(row.operation), ",", CsvField(row.path), ",", NameOf(row.phase),
                    ",", row.calls, ",");
    absl::StrAppend(&text, Exact(row.seconds), ",", Exact(row.median_seconds), ",",
                    row.flop.has_value() ? Exact(*row.flop) : "", ",", row.bytes, ",",
                    Exact(row.share), "\r\n");
  }
  RaiseIfError(internal::ReplaceFile(path, text), "write_csv");
}

void Profile::WriteTrace(const std::string& path) const {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  absl::StrAppend(&text, NameEvent("process_name", 0, "Firn"), ",\n",
                  NameEvent("thread_name", LineOf(Phase::kForward), NameOf(Phase::kForward)), ",\n",
                  NameEvent("thread_name", LineOf(Phase::kBackward), NameOf(Phase::kBackward)));
  for (const Event& e : events) {
    const Row& row = rows[e.row];
    absl::StrAppend(&text, ",\n{\"name\":", JsonString(row.operation), ",\"cat\":\"",
                    NameOf(row.phase), "\",\"ph\":\"X\",\"pid\":1,\"tid\":", LineOf(row.phase),
                    ",\"ts\":", Exact(e.start * 1e6), ",\"dur\":", Exact(e.seconds * 1e6));
    absl::StrAppend(&text, ",\"args\":{\"module\":", JsonString(row.path), "}}");
  }
  absl::StrAppend(&text, "\n]}\n");
  RaiseIfError(internal::ReplaceFile(path, text), "write_trace");
}

}  // namespace firn

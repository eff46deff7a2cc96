// Files that a training writes about itself. They are not read as a whole, so these formats have no
// function for that.
#include "absl/strings/match.h"
#include "firn/io/formats/formats.h"

namespace firn::io {

FIRN_FILE_FORMAT(series) {
  return {.name = "series", .holds = FileHolds::kTable, .suffixes = {".series.txt"}};
}

FIRN_FILE_FORMAT(timer) {
  return {.name = "timer", .holds = FileHolds::kTable, .suffixes = {".timer.txt"}};
}

FIRN_FILE_FORMAT(jsonl) {
  return {.name = "JSON lines", .holds = FileHolds::kTable, .suffixes = {".jsonl"}};
}

FIRN_FILE_FORMAT(events) {
  return {
      .name = "TensorBoard events",
      .holds = FileHolds::kEvents,
      .recognises = [](const FileHead& head) { return absl::StrContains(head.name, "tfevents"); }};
}

}  // namespace firn::io

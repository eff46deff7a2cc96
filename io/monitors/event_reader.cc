// Record by record; a folder's files go one after the other, by the time in their names.
#include "firn/io/monitors/event_reader.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/monitors/event_messages.h"
#include "firn/io/monitors/event_reader_status.h"
#include "firn/io/monitors/tfrecord.h"
#include "firn/io/random_access.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "event reader";

absl::StatusOr<EventFile> ReadFile(const RandomAccess& file, const LoadLimits& limits) {
  RecordReader reader(file);
  EventFile out;
  for (;;) {
    const int64_t offset = reader.offset();
    FIRN_ASSIGN_OR_RETURN(const std::optional<std::string> record,
                          reader.Next(limits.max_metadata_bytes, "limits.max_metadata_bytes"));
    if (!record.has_value()) break;
    Event event;
    const absl::Status status = ReadEvent(*record, &event);
    if (!status.ok()) {
      return Damaged(file.name(), offset, "record", std::string(status.message()));
    }
    out.events.push_back(std::move(event));
  }
  out.whole_bytes = reader.offset();
  out.truncated = reader.offset() != file.size();
  return out;
}

absl::StatusOr<std::vector<std::string>> EventFilesOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  std::filesystem::directory_iterator at(path, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const bool named = at->path().filename().string().find("tfevents") != std::string::npos;
    if (named && at->is_regular_file(error)) files.push_back(at->path().string());
  }
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot read ", path));
  FIRN_RETURN_IF(files.empty(), NotFound(path, ": no event file in this folder"));
  std::sort(files.begin(), files.end());  // by time: it is in the names
  return files;
}

// Removes the points that a session beginning at `step` writes again.
void Purge(int64_t step, std::vector<Series>* series) {
  for (Series& one : *series) {
    size_t kept = 0;
    for (size_t i = 0; i < one.x.size(); ++i) {
      if (one.x[i] >= static_cast<double>(step)) continue;
      one.x[kept] = one.x[i];
      one.y[kept++] = one.y[i];
    }
    one.x.resize(kept);
    one.y.resize(kept);
  }
}

}  // namespace

absl::StatusOr<EventFile> TryReadEvents(const std::string& path, const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> file, RandomAccess::Open(path));
  return ReadFile(*file, limits);
}

absl::StatusOr<EventFile> TryParseEvents(std::string_view bytes, const std::string& name,
                                         const LoadLimits& limits) {
  return ReadFile(*RandomAccess::FromMemory(
                      name, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}),
                  limits);
}

EventFile LoadEvents(const std::string& path, const LoadLimits& limits) {
  absl::StatusOr<EventFile> file = TryReadEvents(path, limits);
  RaiseIfError(file.status(), kWho);
  return *std::move(file);
}

std::vector<Series> LoadEventSeries(const std::string& path, const LoadLimits& limits) {
  const absl::StatusOr<std::vector<std::string>> files = EventFilesOf(path);
  RaiseIfError(files.status(), kWho);
  std::vector<Series> series;
  std::map<std::string, size_t> places;
  for (const std::string& file : *files) {
    for (const Event& event : LoadEvents(file, limits).events) {
      if (event.starts_session) Purge(event.step, &series);
      for (const EventScalar& scalar : event.scalars) {
        const auto [place, added] = places.emplace(scalar.tag, series.size());
        if (added) series.push_back({.name = scalar.tag});
        series[place->second].x.push_back(static_cast<double>(event.step));
        series[place->second].y.push_back(static_cast<double>(scalar.value));
      }
    }
  }
  return series;
}

}  // namespace firn::io

// Series are read with the name of their file, put into groups as on the page of a run
// (monitor/charts.h), and named at the end: by their folders if these differ, so that the names of
// curves tell runs apart, and then by files or numbers.
#include "tools/firn/plot_files.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/monitors/event_reader.h"
#include "firn/io/monitors/record_reader.h"
#include "firn/io/monitors/series_names.h"
#include "firn/io/number_text.h"
#include "firn/tensor/error.h"
#include "tools/firn/monitor/charts.h"

namespace firn::cli {
namespace {

struct Read {
  io::Series series;
  std::string path, x;     // x: what the file calls it
  bool asked_for = false;  // by a file of its own
};

bool IsTable(const std::string& path) { return path.ends_with(".csv") || path.ends_with(".jsonl"); }

bool IsEvents(const std::string& path) {
  return absl::StrContains(std::filesystem::path(path).filename().string(), "tfevents");
}

// The columns of a table, x first, without other columns that count the same.
io::Records XFirst(io::Records records) {
  std::vector<std::string>& columns = records.columns;
  if (columns.empty()) return records;
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (columns[0].starts_with(kMark)) columns[0].erase(0, kMark.size());
  const size_t x = io::XColumnOf(columns);
  if (x == 0) return records;
  const auto move_x = [x](auto& row) {
    row[0] = std::move(row[x]);
    row.erase(row.begin() + static_cast<ptrdiff_t>(x));
  };
  move_x(columns);
  for (auto& row : records.rows) move_x(row);
  return records;
}

void AddAll(std::vector<io::Series> series, const std::string& path, const std::string& x,
            std::vector<Read>* all) {
  for (io::Series& one : series) all->push_back({std::move(one), path, x, false});
}

void AddFile(const std::string& path, std::vector<Read>* all) {
  if (IsTable(path)) {
    const io::Records records = XFirst(io::LoadRecords(path));
    const std::string x = records.columns.empty() ? "" : records.columns[0];
    AddAll(io::SeriesOf(records), path, io::ParseNumber(x) ? "" : x, all);
  } else if (IsEvents(path)) {
    AddAll(io::LoadEventSeries(path), path, "step", all);
  } else {
    all->push_back({io::LoadSeries(path), path, "", true});
  }
}

// Event files of a folder go on with each other's curves. The user did not name its files: an error
// in one is kept, and the others are read.
void AddFolder(const std::string& folder, std::vector<Read>* all,
               std::vector<absl::Status>* damaged) {
  const auto guarded = [damaged](const auto& read) {
    try {
      read();
    } catch (const Error& e) {
      damaged->push_back(e.status());
    }
  };
  std::vector<std::string> files;
  bool events = false;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string path = at->path().string();
    std::error_code gone;
    const bool hidden = at->path().filename().string().starts_with('.');  // as the page has it
    if (hidden || at->is_symlink(gone) || !at->is_regular_file(gone)) continue;
    events |= IsEvents(path);
    if (IsTable(path) || path.ends_with(".series.txt")) files.push_back(path);
  }
  if (error) RaiseStatus(absl::ErrnoToStatus(error.value(), "cannot read " + folder), "plot");
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) guarded([&] { AddFile(file, all); });
  if (events) {
    guarded([&] { AddAll(io::LoadEventSeries(folder), folder + "/events", "step", all); });
  }
  for (Read& read : *all) read.asked_for = false;
}

std::string FolderOf(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().parent_path().string();
}

// Names that differ, as the comment at the top says.
void Name(std::vector<Read>* all) {
  std::vector<std::string> folders;
  for (const Read& read : *all) folders.push_back(FolderOf(read.path));
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  std::vector<std::string> paths;
  for (const std::string& folder : folders) paths.push_back(folder.empty() ? "x" : folder + "/x");
  std::vector<io::Series> prefixes(folders.size());
  io::TellApart(paths, &prefixes);
  for (Read& read : *all) {
    const auto at = std::lower_bound(folders.begin(), folders.end(), FolderOf(read.path));
    read.series.name = prefixes[static_cast<size_t>(at - folders.begin())].name + read.series.name;
  }
  const auto counted = [&] {
    std::map<std::string, int> counts;
    for (const Read& read : *all) ++counts[read.series.name];
    return counts;
  };
  for (std::map<std::string, int> counts = counted(); Read & read : *all) {
    if (counts[read.series.name] == 1) continue;
    const std::string file = std::filesystem::path(read.path).filename().string();
    absl::StrAppend(&read.series.name, " (", file, ")");
  }
  for (std::map<std::string, int> counts; Read & read : *all) {
    const int n = ++counts[read.series.name];
    if (n > 1) absl::StrAppend(&read.series.name, " (", n, ")");
  }
}

bool Has(const ChartGroup& group, const std::vector<Read>& all, const std::string& name) {
  return absl::EqualsIgnoreCase(group.name, name) ||
         std::any_of(group.members.begin(), group.members.end(),
                     [&](size_t i) { return absl::EqualsIgnoreCase(all[i].series.name, name); });
}

std::string NamesOf(const std::vector<ChartGroup>& groups) {
  std::vector<std::string> names;
  for (const ChartGroup& group : groups) names.push_back(group.name);
  return ListOf(names);
}

// Which of the groups the picture shows.
std::vector<bool> Chosen(const std::vector<ChartGroup>& groups, const std::vector<Read>& all,
                         const std::vector<std::string>& charts) {
  std::vector<bool> chosen(groups.size(), false);
  for (const std::string& name : charts) {
    bool found = false;
    for (size_t g = 0; g < groups.size(); ++g) {
      if (!Has(groups[g], all, name)) continue;
      chosen[g] = found = true;
    }
    if (!found) {
      RaiseStatus(NotFound("there is no chart ", name, "; there are ", NamesOf(groups)), "plot");
    }
  }
  if (!charts.empty()) return chosen;
  for (size_t g = 0; g < groups.size(); ++g) {
    const std::vector<size_t>& members = groups[g].members;
    chosen[g] =
        std::any_of(members.begin(), members.end(), [&](size_t i) { return all[i].asked_for; });
  }
  if (std::find(chosen.begin(), chosen.end(), true) != chosen.end()) return chosen;
  // Prefers "loss", then other losses, then other groups, and rates and times last; among equals
  // the group with most parts.
  const auto rank = [](const ChartGroup& group) {
    const ChartKind kind = KindOf(group.name);
    const int first = kind == ChartKind::kLoss
                          ? (absl::StartsWithIgnoreCase(group.name, "loss") ? 0 : 1)
                          : (kind == ChartKind::kOther ? 2 : 3);
    return std::pair(first, -static_cast<int64_t>(group.members.size()));
  };
  const auto best =
      std::min_element(groups.begin(), groups.end(),
                       [&](const ChartGroup& a, const ChartGroup& b) { return rank(a) < rank(b); });
  chosen[static_cast<size_t>(best - groups.begin())] = true;
  return chosen;
}

}  // namespace

std::string ListOf(const std::vector<std::string>& names) {
  constexpr size_t kMost = 20, kLetters = 60;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", names[i].substr(0, kLetters));
  }
  if (names.size() > kMost) absl::StrAppend(&text, " and ", names.size() - kMost, " more");
  return text;
}

PlotChoice ChooseSeries(const std::vector<std::string>& files,
                        const std::vector<std::string>& charts) {
  std::vector<Read> all;
  std::vector<absl::Status> damaged;
  for (const std::string& file : files) {
    std::vector<Read> some;
    std::error_code error;
    const bool folder = std::filesystem::is_directory(file, error);
    folder ? AddFolder(file, &some, &damaged) : AddFile(file, &some);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  if (all.empty() && !damaged.empty()) RaiseStatus(damaged[0], "plot");
  if (all.empty()) {
    RaiseStatus(NotFound(absl::StrJoin(files, ", "), ": no series of numbers there (want ",
                         "NAME.series.txt, or .csv, .jsonl and event files with numbers)"),
                "plot");
  }
  std::vector<SeriesKey> keys;
  for (const Read& read : all) {
    keys.push_back({read.series.name, io::CountsEpochs(read.x)});
  }
  const std::vector<ChartGroup> groups = GroupsOf(keys);
  const std::vector<bool> chosen = Chosen(groups, all, charts);
  PlotChoice choice;
  for (const absl::Status& status : damaged) choice.damaged.emplace_back(status.message());
  std::vector<bool> taken(all.size(), false);
  for (size_t g = 0; g < groups.size(); ++g) {
    (chosen[g] ? choice.shown : choice.others).push_back(groups[g].name);
    for (const size_t i : groups[g].members) taken[i] = chosen[g];
  }
  std::vector<Read> picture;
  for (size_t i = 0; i < all.size(); ++i) {
    if (taken[i]) picture.push_back(std::move(all[i]));
  }
  Name(&picture);
  choice.x = picture[0].x;
  for (Read& read : picture) {
    if (read.x != choice.x) choice.x.clear();
    choice.series.push_back(std::move(read.series));
  }
  return choice;
}

}  // namespace firn::cli

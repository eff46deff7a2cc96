// Collector::Contents: what files have, put together by name. Files of one folder are one run; they
// come by name, event files thus by time.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "tools/firn/monitor/charts.h"
#include "tools/firn/monitor/collector.h"

namespace firn::cli {
namespace {

// "runs/a/loss": things other than curves have their run in their name, since runs never share
// them.
std::string InRun(const std::string& path, const std::string& name) {
  const std::string run = FolderOf(path);
  return run.empty() ? name : absl::StrCat(run, "/", name);
}

}  // namespace

void Collector::AddCurves(RunContents* contents) const {
  std::map<std::string, std::map<std::string, Curve>> named;  // by name, by run
  const auto curve_of = [&](const std::string& name, const std::string& run, bool by_epoch) {
    Curve& curve = named[name][run];
    curve.name = name;
    curve.run = run;
    curve.by_epoch = by_epoch;
    return &curve.points;
  };
  // Event files of a folder go on with each other's curves.
  for (const auto& [path, file] : files_) {
    if (!file.follower->in_sessions()) continue;
    const Findings& found = file.follower->found();
    const std::string run = FolderOf(path);
    for (auto& [name, runs] : named) {
      const auto earlier = runs.find(run);
      if (!found.begins_at.has_value() || earlier == runs.end()) continue;
      earlier->second.points.RemoveFrom(static_cast<double>(*found.begins_at));
    }
    for (const auto& [name, curve] : found.curves) {
      curve_of(name, run, found.by_epoch)->Append(curve.value);
    }
  }
  for (const auto& [path, file] : files_) {
    if (file.follower->in_sessions()) continue;
    const std::string run = FolderOf(path);
    const Findings& found = file.follower->found();
    for (const auto& [name, curve] : found.curves) {
      const bool twin = named[name].contains(run);
      curve_of(name, twin ? path : run, found.by_epoch)->Append(curve.value);
    }
  }
  std::vector<Curve> curves;
  for (auto& [name, runs] : named) {
    for (auto& [run, curve] : runs) curves.push_back(std::move(curve));
  }
  contents->charts = ChartsOf(std::move(curves));
}

// In turns: each name gets its newest picture before one gets its second. Pictures without room on
// the page are not kept in memory, either: there may be thousands.
void Collector::AddPictures(RunContents* contents) {
  struct Candidate {
    int64_t bytes;  // as far as they are known before it is looked at
    std::function<absl::StatusOr<std::shared_ptr<const Picture>>()> load;
    std::function<void()> forget;
  };
  struct Row {
    PictureGroup group;
    std::vector<Candidate> candidates;
  };
  std::vector<Row> rows;
  for (auto& [path, file] : files_) {
    for (auto& [name, row] : file.follower->found().pictures) {
      Row& one = rows.emplace_back();
      one.group.name = InRun(path, name);
      one.group.left_out = row.count;
      for (auto picture = row.newest.rbegin(); picture != row.newest.rend(); ++picture) {
        Findings::EventPicture* const p = &*picture;
        const auto load = [this, p]() -> absl::StatusOr<std::shared_ptr<const Picture>> {
          if (p->checked == nullptr) {
            FIRN_ASSIGN_OR_RETURN(
                p->checked,
                CheckPicture(p->encoded, absl::StrCat("step ", p->step), false, rooms_.limits));
          }
          return p->checked;
        };
        one.candidates.push_back(
            {static_cast<int64_t>(p->encoded.size()), load, [p] { p->checked.reset(); }});
      }
    }
  }
  for (const auto& [folder, row] : shelf_.rows()) {
    Row& one = rows.emplace_back();
    one.group.name = folder.empty() ? "pictures" : folder;
    one.group.left_out = row.count;
    for (const PictureFile& file : row.newest) {
      one.candidates.push_back({file.bytes, [this, &file] { return shelf_.Load(folder_, file); },
                                [this, &file] { shelf_.Forget(file); }});
    }
  }
  int64_t left = rooms_.limits.embedded_bytes;
  const auto embed = [&](const Candidate& candidate, PictureGroup* group) -> absl::Status {
    const int64_t most = std::min(left, rooms_.limits.max_picture_bytes);
    FIRN_RETURN_IF(candidate.bytes > most, ResourceExhausted("no room"));
    FIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const Picture> picture, candidate.load());
    const auto bytes = static_cast<int64_t>(picture->bytes.size());
    // A picture may become larger as a PNG.
    FIRN_RETURN_IF(bytes > left, ResourceExhausted("no room"));
    left -= bytes;
    group->pictures.push_back(picture);
    --group->left_out;
    return absl::OkStatus();
  };
  for (size_t turn = 0; turn < static_cast<size_t>(rooms_.limits.max_pictures); ++turn) {
    for (Row& row : rows) {
      if (turn >= row.candidates.size()) continue;
      const absl::Status status = embed(row.candidates[turn], &row.group);
      if (absl::IsResourceExhausted(status)) {
        row.candidates[turn].forget();
        contents->beyond_limits = true;
      } else if (!status.ok()) {
        contents->problems.push_back({row.group.name, std::string(status.message())});
      }
    }
  }
  for (Row& row : rows) contents->pictures.push_back(std::move(row.group));
}

void Collector::AddOthers(RunContents* contents) const {
  for (const auto& [path, file] : files_) {
    const Findings& found = file.follower->found();
    for (const auto& [name, row] : found.histograms) {
      contents->histograms.push_back({InRun(path, name), row.value.Items()});
    }
    for (const auto& [name, text] : found.texts) {
      contents->texts.push_back(text.value);
      contents->texts.back().name = InRun(path, name);
    }
    if (!found.graph.empty()) contents->graphs.push_back({path, found.graph, found.by_module});
    if (!file.status.ok()) {
      contents->problems.push_back({path, std::string(file.status.message())});
    }
  }
}

RunContents Collector::Contents() {
  RunContents contents;
  contents.files = static_cast<int64_t>(files_.size());
  for (const auto& [folder, row] : shelf_.rows()) contents.files += row.count;
  AddCurves(&contents);
  AddPictures(&contents);
  AddOthers(&contents);
  contents.passed_over = passed_over_;
  contents.beyond_limits |= rooms_.curves.refused() || rooms_.other.refused() ||
                            rooms_.pictures.refused() || shelf_.refused();
  return contents;
}

}  // namespace firn::cli

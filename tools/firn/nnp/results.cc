#include "tools/firn/nnp/results.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/tensor/error.h"

namespace firn::cli {
namespace {

constexpr char kCurrent[] = "results_current_";

// Names in models come from strangers; these are safe as names of files and as keys of YAML.
bool IsPlain(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  });
}

// The way Python writes a float: the fewest digits that give it back.
std::string NumberText(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  std::string shortest(text, end);
  if (shortest.find_first_of(".en") == std::string::npos) shortest += ".0";
  return shortest;
}

}  // namespace

Results::Results(const std::string& folder, const std::vector<std::string>& monitors,
                 int64_t epochs_before)
    : folder_(folder), monitors_(monitors), monitor_(folder) {
  const io::MonitorSeriesOptions options = {.resume_at = epochs_before};
  std::set<std::string> taken = {"cost"};
  series_.emplace_back("cost", monitor_, options);
  for (size_t i = 0; i < monitors.size(); ++i) {
    std::string name = monitors[i];
    if (!IsPlain(name) || taken.contains(name)) name = absl::StrCat("monitor-", i);
    taken.insert(name);
    series_.emplace_back(name, monitor_, options);
  }
  std::error_code error;
  if (epochs_before == 0) std::filesystem::remove(folder + "/monitoring_report.yml", error);
  if (const auto newest = Newest(folder)) current_ = newest->second;
}

std::optional<std::pair<int64_t, std::string>> Results::Newest(const std::string& folder) {
  std::optional<std::pair<int64_t, std::string>> newest;
  std::error_code error;
  for (std::filesystem::directory_iterator i(folder, error), end; !error && i != end;
       i.increment(error)) {
    const std::string name = i->path().filename().string();
    if (!name.starts_with(kCurrent) || !name.ends_with(".nnp")) continue;
    int64_t epoch = 0;
    const size_t before = sizeof(kCurrent) - 1;
    const std::string number = name.substr(before, name.size() - before - 4);
    if (!absl::SimpleAtoi(number, &epoch) || epoch < 0) continue;
    if (!newest || epoch > newest->first) newest.emplace(epoch, i->path().string());
  }
  return newest;
}

void Results::SaveBest(const io::nnabla::Model& model) const { io::SaveNnabla(best(), model); }

bool Results::CurrentIsDue(int64_t epoch, bool now) const {
  if (now) return current_ != absl::StrCat(folder_, "/", kCurrent, epoch, ".nnp") || !saved_;
  return !saved_ || epoch - saved_epoch_ > 10 ||
         std::chrono::steady_clock::now() - *saved_ > std::chrono::seconds(180);
}

void Results::SaveCurrent(const io::nnabla::Model& model, int64_t epoch) {
  const std::string path = absl::StrCat(folder_, "/", kCurrent, epoch, ".nnp");
  io::SaveNnabla(path, model);
  std::error_code error;
  if (!current_.empty() && current_ != path) std::filesystem::remove(current_, error);
  current_ = path;
  saved_epoch_ = epoch;
  saved_ = std::chrono::steady_clock::now();
}

void Results::Report(int64_t epoch, double cost, const std::vector<double>& errors) {
  const std::string path = folder_ + "/monitoring_report.yml";
  std::string text = absl::StrCat(epoch, ":\n  cost: ", NumberText(cost), "\n");
  series_[0].Add(epoch, cost);
  for (size_t i = 0; i < errors.size(); ++i) {
    const std::string& name = monitors_[i];
    absl::StrAppend(&text, "  ", IsPlain(name) ? name : inner::internal::JsonString(name), ": ",
                    NumberText(errors[i]), "\n");
    series_[i + 1].Add(epoch, errors[i]);
  }
  std::ofstream out(path, std::ios::app | std::ios::binary);
  out << text << std::flush;
  if (!out) RaiseStatus(absl::UnavailableError(absl::StrCat(path, ": cannot be written")), "nnp");
}

}  // namespace firn::cli

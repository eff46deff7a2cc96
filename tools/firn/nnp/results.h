#ifndef FIRN_TOOLS_FIRN_NNP_RESULTS_H_
#define FIRN_TOOLS_FIRN_NNP_RESULTS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/monitors/monitor.h"
#include "firn/io/nnabla_model/nnabla_model.h"

namespace firn::cli {

// The folder that a training writes, with the names that NNabla gives: results.nnp for the best
// (or only) parameters, results_current_<epoch>.nnp for the newest, monitoring_report.yml for a
// cost and errors of each epoch; and the same numbers as series of NNabla's monitors.
class Results {
 public:
  // Makes the folder. `monitors` are names with any characters.
  Results(const std::string& folder, const std::vector<std::string>& monitors,
          int64_t epochs_before);

  // The newest of results_current_<epoch>.nnp and its epoch, counted from 1.
  static std::optional<std::pair<int64_t, std::string>> Newest(const std::string& folder);

  std::string best() const { return folder_ + "/results.nnp"; }
  void SaveBest(const io::nnabla::Model& model) const;
  // Mostly writes nothing: the first time, and then when 180 seconds or 10 epochs have passed, or
  // `now` says so. The one before is removed. Returns whether it wrote.
  bool CurrentIsDue(int64_t epoch, bool now) const;
  void SaveCurrent(const io::nnabla::Model& model, int64_t epoch);
  const std::string& current() const { return current_; }

  // Writes a line for each; `errors` by monitor, empty if the epoch was not evaluated.
  void Report(int64_t epoch, double cost, const std::vector<double>& errors);

 private:
  std::string folder_, current_;
  std::vector<std::string> monitors_;
  io::Monitor monitor_;
  std::vector<io::MonitorSeries> series_;  // of the cost, then by monitor
  int64_t saved_epoch_ = 0;
  std::optional<std::chrono::steady_clock::time_point> saved_;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_NNP_RESULTS_H_

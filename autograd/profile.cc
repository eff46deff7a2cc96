// Takes the time as the last thing before an operation and the first thing after it. Rows are found
// by the addresses of the operation's and the path's text, since each text has one address.

#include "firn/autograd/profile.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "firn/autograd/flops.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/observe.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsBetween(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

int64_t BytesOf(const TensorSpec* spec) {
  return spec == nullptr ? 0 : static_cast<int64_t>(spec->bytes());
}

class Recorder final : public OperationObserver {
 public:
  Recorder() : OperationObserver("profile") {}

  void Run(absl::FunctionRef<void()> step) {
    const Clock::time_point from = Clock::now();
    if (run_seconds_.empty()) begin_ = from;
    step();
    run_seconds_.push_back(SecondsBetween(from, Clock::now()));
  }

  Profile Finish() {
    Profile& p = profile_;
    p.runs = static_cast<int64_t>(run_seconds_.size());
    for (double s : run_seconds_) p.seconds += s;
    p.median_run_seconds = Median(run_seconds_);
    std::vector<std::vector<double>> times(p.rows.size());
    for (const Profile::Event& e : p.events) times[e.row].push_back(e.seconds);
    for (size_t i = 0; i < times.size(); ++i) {
      for (double s : times[i]) p.rows[i].seconds += s;
      p.operation_seconds += p.rows[i].seconds;
      p.rows[i].median_seconds = Median(std::move(times[i]));
    }
    for (Profile::Row& row : p.rows) {
      row.share = p.operation_seconds > 0 ? row.seconds / p.operation_seconds : 0;
    }
    Sort();
    return std::move(p);
  }

 private:
  // Operation, path, phase.
  using Key = std::pair<std::pair<const OpDef*, const std::string*>, Phase>;

  absl::Status Before(const OperationCall&) override {
    started_ = Clock::now();
    return absl::OkStatus();
  }

  absl::Status After(const OperationCall& call) override {
    const Clock::time_point now = Clock::now();
    const size_t at = RowOf(call);
    profile_.events.push_back(
        {at, SecondsBetween(begin_, started_), SecondsBetween(started_, now)});
    Count(call, profile_.rows[at]);
    return absl::OkStatus();
  }

  size_t RowOf(const OperationCall& call) {
    const Key key{{&call.op(), &call.path()}, call.phase()};
    const auto [it, inserted] = index_.try_emplace(key, profile_.rows.size());
    if (inserted) {
      Profile::Row& row = profile_.rows.emplace_back();
      row.operation = std::string(call.name());
      row.path = call.path();
      row.phase = call.phase();
    }
    return it->second;
  }

  static void Count(const OperationCall& call, Profile::Row& row) {
    ++row.calls;
    const std::optional<double> flop = FlopsOf(call);
    if (flop.has_value()) row.flop = row.flop.value_or(0) + *flop;
    if (call.op().is_view) return;
    for (size_t i = 0; i < call.num_inputs(); ++i) row.bytes += BytesOf(call.input_spec(i));
    for (size_t i = 0; i < call.num_outputs(); ++i) row.bytes += BytesOf(call.output_spec(i));
  }

  // The most expensive row first; events keep to their rows.
  void Sort() {
    std::vector<Profile::Row>& rows = profile_.rows;
    std::vector<size_t> order(rows.size()), place(rows.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return rows[a].seconds > rows[b].seconds; });
    std::vector<Profile::Row> sorted;
    for (size_t i = 0; i < order.size(); ++i) {
      sorted.push_back(std::move(rows[order[i]]));
      place[order[i]] = i;
    }
    rows = std::move(sorted);
    for (Profile::Event& e : profile_.events) e.row = place[e.row];
  }

  Clock::time_point begin_, started_;
  std::vector<double> run_seconds_;
  absl::flat_hash_map<Key, size_t> index_;
  Profile profile_;
};

void CheckRuns(Integer runs) {
  if (runs < 1) RaiseStatus(InvalidArgument("runs is ", runs, " (want >= 1)"), "profile");
}

}  // namespace

Profile ProfileStep(absl::FunctionRef<void()> step, Integer runs) {
  CheckRuns(runs);
  Recorder recorder;
  for (int64_t i = 0; i < runs; ++i) recorder.Run(step);
  return recorder.Finish();
}

Profile ProfileGraph(StaticGraph& graph, absl::Span<const Tensor> inputs, Integer runs) {
  CheckRuns(runs);
  TensorList out(graph.graph().outputs.size());
  const auto run = [&] { RaiseIfError(graph.Run(inputs, absl::MakeSpan(out)), "graph"); };
  run();
  return ProfileStep(run, runs);
}

}  // namespace firn

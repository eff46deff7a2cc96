// Times operations for op_compare.py: a JSON object a line in, one a line out; the protocol is in
// peers/README.md. The inputs of the last call stay, so that its passes are set up fast.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "benchmarks/json_line.h"
#include "benchmarks/op_case.h"
#include "benchmarks/worker_loop.h"
#include "firn/autograd/backward.h"
#include "firn/device/context.h"
#include "firn/device/escape.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/device/usable_device.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::benchmarks {
namespace {

using internal::JsonString;

constexpr int64_t kMaxCalls = 1000000;

std::string Strings(const std::vector<std::string>& words) {
  return absl::StrCat("[",
                      absl::StrJoin(words, ", ",
                                    [](std::string* out, const std::string& word) {
                                      absl::StrAppend(out, JsonString(word));
                                    }),
                      "]");
}

absl::StatusOr<DType> ParseDType(const std::string& name) {
  const EnumWord* const found = WordList(kWordsOf<DType>).Find(name);
  FIRN_RETURN_IF(found == nullptr, InvalidArgument("unknown dtype '", name, "'"));
  return static_cast<DType>(found->value);
}

// The factors of the result's elements before they are summed: -3/4, -2/4, ..., 3/4, repeated.
// Every floating dtype holds them.
Tensor SeedFor(const Tensor& y) {
  std::vector<float> values(static_cast<size_t>(y.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = (static_cast<float>(i % 7) - 3) / 4;
  }
  return FromVector(std::move(values), y.shape()).To(y.dtype()).To(y.device());
}

// Shape, and the means of the finite elements and of their absolute values: these tell whether two
// frameworks compute the same.
std::string Summary(const Tensor& t) {
  if (!t.defined()) return "null";
  double sum = 0, absolute = 0;
  int64_t count = 0;
  for (const double v : t.To(Device::Cpu()).ToVector<double>()) {
    if (!std::isfinite(v)) continue;
    sum += v;
    absolute += std::abs(v);
    ++count;
  }
  const double n = static_cast<double>(std::max<int64_t>(count, 1));
  return absl::StrFormat("{\"shape\": [%s], \"finite\": %d, \"mean\": %.17g, \"mean_abs\": %.17g}",
                         absl::StrJoin(t.shape().dims().span(), ", "), count, sum / n,
                         absolute / n);
}

// The state that is kept between commands.
class Worker {
 public:
  absl::StatusOr<std::string> Answer(const JsonLine& command) {
    FIRN_ASSIGN_OR_RETURN(const std::string name, command.Text("cmd"));
    if (name == "list") return List();
    if (name == "describe") return Describe(command);
    if (name == "setup") return Setup(command);
    if (name == "block") return Block(command);
    return InvalidArgument("unknown command '", name, "'");
  }

 private:
  static std::string List() {
    std::vector<std::string> entries;
    for (const std::string& operation : OpCase::Operations()) {
      entries.push_back(absl::StrCat("{\"operation\": ", JsonString(operation), ", \"cases\": ",
                                     Strings(testing::LargeSampleNames(operation)), "}"));
    }
    return absl::StrCat("{\"operations\": [", absl::StrJoin(entries, ", "), "]}");
  }

  absl::StatusOr<std::string> Describe(const JsonLine& command) {
    FIRN_RETURN_IF_ERROR(Find(command));
    FIRN_ASSIGN_OR_RETURN(const std::string folder, command.Text("folder"));
    return case_->Describe(folder);
  }

  absl::Status Find(const JsonLine& command) {
    FIRN_ASSIGN_OR_RETURN(const std::string operation, command.Text("operation"));
    FIRN_ASSIGN_OR_RETURN(const std::string name, command.Text("case"));
    if (case_.has_value() && operation == operation_ && name == name_) return absl::OkStatus();
    call_ = nullptr;
    inputs_.clear();
    case_.reset();
    FIRN_ASSIGN_OR_RETURN(case_, OpCase::Find(operation, name));
    operation_ = operation;
    name_ = name;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Setup(const JsonLine& command) {
    FIRN_RETURN_IF_ERROR(Find(command));
    FIRN_ASSIGN_OR_RETURN(const std::string dtype_name, command.Text("dtype"));
    FIRN_ASSIGN_OR_RETURN(const DType dtype, ParseDType(dtype_name));
    FIRN_ASSIGN_OR_RETURN(const std::string pass, command.Text("pass"));
    FIRN_RETURN_IF(pass != "forward" && pass != "backward",
                   InvalidArgument("unknown pass '", pass, "', only forward and backward"));
    FIRN_ASSIGN_OR_RETURN(const std::string layout, command.Text("layout"));
    FIRN_ASSIGN_OR_RETURN(const int64_t threads, command.Integer("threads"));
    SetNumThreads(static_cast<int>(std::clamp<int64_t>(threads, 1, 1024)));
    FIRN_ASSIGN_OR_RETURN(const std::string place, command.Text("device"));
    FIRN_ASSIGN_OR_RETURN(const Device device, UsableDevice(place));
    FIRN_ASSIGN_OR_RETURN(context_, GetDeviceContext(device));
    call_ = nullptr;
    const bool kept = !inputs_.empty() && case_->Written().empty();
    if (!kept || dtype != dtype_ || layout != layout_ || device != device_) {
      inputs_.clear();
      FIRN_ASSIGN_OR_RETURN(inputs_, case_->Inputs(dtype, layout, device));
      device_ = device;
      dtype_ = dtype;
      layout_ = layout;
    }
    if (pass == "forward") {
      call_ = [this] {
        const NoGradScope no_grad;
        return case_->Call(inputs_);
      };
    } else {
      FIRN_ASSIGN_OR_RETURN(call_, BackwardCall());
    }
    std::vector<Tensor> given = call_();
    if (given.empty()) {
      for (const size_t i : case_->Written()) given.push_back(inputs_[i]);
    }
    std::vector<std::string> results;
    for (const Tensor& t : given) results.push_back(Summary(t));
    FIRN_RETURN_IF_ERROR(context_->Synchronize());
    FIRN_ASSIGN_OR_RETURN(const double ms, TimeOfCalls(1));
    return absl::StrFormat("{\"ok\": true, \"ms\": %.9g, \"results\": [%s]}", ms,
                           absl::StrJoin(results, ", "));
  }

  // Runs the forward pass, recorded, and returns a function whose calls run the backward pass
  // through it.
  absl::StatusOr<std::function<std::vector<Tensor>()>> BackwardCall() {
    std::vector<Tensor> inputs = inputs_, leaves, roots;
    for (const size_t i : case_->Wanted()) {
      inputs[i] = inputs[i].Detach();
      leaves.push_back(inputs[i].SetRequiresGrad());
    }
    GradOptions options{.retain_graph = true, .allow_unused = true};
    for (const Tensor& y : case_->Call(inputs)) {
      if (!y.requires_grad()) continue;
      roots.push_back(y);
      options.seeds.push_back(SeedFor(y));
    }
    FIRN_RETURN_IF(roots.empty(), InvalidArgument("no gradient flows through it"));
    return [roots, leaves, options] { return Grad(roots, leaves, options); };
  }

  // Milliseconds that a call takes, measured on several with one wait at their end.
  absl::StatusOr<double> TimeOfCalls(int64_t calls) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < calls; ++i) call_();
    FIRN_RETURN_IF_ERROR(context_->Synchronize());
    const auto time = std::chrono::steady_clock::now() - start;
    return std::chrono::duration<double, std::milli>(time).count() / static_cast<double>(calls);
  }

  absl::StatusOr<std::string> Block(const JsonLine& command) {
    FIRN_RETURN_IF(call_ == nullptr, InvalidArgument("'block' comes before 'setup'"));
    FIRN_ASSIGN_OR_RETURN(const int64_t calls, command.Integer("calls"));
    FIRN_RETURN_IF(calls < 1 || calls > kMaxCalls,
                   InvalidArgument("calls is ", calls, " (want 1 to ", kMaxCalls, ")"));
    const bool one_by_one = context_->device().is_cpu();  // a wait for a device takes its time
    std::vector<std::string> times;
    for (int64_t i = 0; i < (one_by_one ? calls : 1); ++i) {
      FIRN_ASSIGN_OR_RETURN(const double ms, TimeOfCalls(one_by_one ? 1 : calls));
      times.push_back(absl::StrFormat("%.9g", ms));
    }
    return absl::StrCat("{\"ms\": [", absl::StrJoin(times, ", "), "]}");
  }

  std::optional<OpCase> case_;
  std::string operation_, name_, layout_;  // the names of case_, the layout of inputs_
  DType dtype_ = kDefaultFloat;
  Device device_;
  std::vector<Tensor> inputs_;
  DeviceContext* context_ = nullptr;           // set with call_
  std::function<std::vector<Tensor>()> call_;  // null until set up
};

int Main() {
  SetFlushDenormals(true);
  Worker worker;
  AnswerCommands([&](const JsonLine& command) { return worker.Answer(command); });
  return 0;
}

}  // namespace
}  // namespace firn::benchmarks

int main() { return firn::benchmarks::Main(); }

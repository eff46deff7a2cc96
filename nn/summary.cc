// Summary: a dry forward watched by hooks, which see what layers make, and by an observer of
// operations, which counts those that are products under the path of the innermost layer that calls
// them. Products that no layer calls count as the network's own.

#include "firn/nn/summary.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/autograd/flops.h"
#include "firn/autograd/observe.h"
#include "firn/device/inner.h"
#include "firn/device/text_table.h"
#include "firn/nn/eval_scope.h"
#include "firn/tensor/dispatch.h"

namespace firn::nn {
namespace {

using firn::inner::internal::AlignedText;
using firn::inner::internal::BytesText;
using firn::inner::internal::GroupedDigits;

// Counts a module's calls while it lives, in evaluation mode.
class Watch {
 public:
  explicit Watch(Module& network) : eval_(network) {
    network.VisitModules([this](Module& m) {
      handles_.push_back(m.RegisterForwardHook(
          [this](Module& layer, absl::Span<const Tensor>, Tensor& out) { Note(layer, out); }));
    });
  }
  ~Watch() {
    for (HookHandle& h : handles_) h.Remove();
  }
  const SummaryTable::Row& seen(Module* m) { return seen_[m]; }

 private:
  void Note(Module& layer, const Tensor& out) {
    SummaryTable::Row& row = seen_[&layer];
    ++row.calls;
    row.output = out.shape();
    row.output_bytes += static_cast<int64_t>(out.spec().bytes());
  }

  const EvalScope eval_;
  std::vector<HookHandle> handles_;
  std::map<Module*, SummaryTable::Row> seen_;
};

// Multiply-adds by the path of the caller.
class Products final : public OperationObserver {
 public:
  Products() : OperationObserver("summary") {}
  // Those under that path, which are then left out of Rest.
  int64_t Take(const std::string& path) { return std::exchange(of_[path], 0); }
  // Those of all other paths.
  int64_t Rest() const {
    int64_t rest = 0;
    for (const auto& [path, count] : of_) rest += count;
    return rest;
  }

 private:
  absl::Status Before(const OperationCall&) override { return absl::OkStatus(); }
  absl::Status After(const OperationCall& call) override {
    of_[call.path()] += std::llround(FlopsOf(call).value_or(0) / 2);
    return absl::OkStatus();
  }

  std::map<std::string, int64_t> of_;
};

}  // namespace

SummaryTable Summarise(Module& network, const std::string& input,
                       const std::function<void()>& forward) {
  SummaryTable table;
  table.network = network.type_name();
  table.input = input;
  const NoGradScope no_grad;
  Watch watch(network);
  Products products;
  forward();
  const std::vector<NamedModule> modules = network.named_modules();
  std::map<const Module*, int64_t> multiply_adds;
  for (const NamedModule& m : modules) multiply_adds[m.module] = products.Take(m.module->path());
  multiply_adds[&network] += products.Rest();
  std::set<const TensorImpl*> counted;
  for (const NamedModule& m : modules) {
    SummaryTable::Row row = watch.seen(m.module);
    row.multiply_adds = multiply_adds[m.module];
    row.path = m.name;
    row.type = m.module->type_name();
    for (const NamedTensor& p : m.module->named_parameters()) {
      const bool own = p.name.find('.') == std::string::npos;
      if (!own || !counted.insert(p.tensor.impl()).second) continue;
      row.parameters += p.tensor.num_elements();
      table.parameter_bytes += static_cast<int64_t>(p.tensor.spec().bytes());
    }
    const bool idle = row.parameters == 0 && row.multiply_adds == 0;
    if (idle && (m.module->num_children() != 0 || row.calls == 0)) continue;
    table.parameters += row.parameters;
    table.multiply_adds += row.multiply_adds;
    table.output_bytes += row.output_bytes;
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string SummaryTable::ToString() const {
  std::vector<std::vector<std::string>> lines;
  lines.push_back({"layer", "type", "output", "parameters", "multiply-adds", "memory"});
  for (const Row& r : rows) {
    const std::string output = r.calls > 1    ? absl::StrCat(r.calls, " x ", r.output.ToString())
                               : r.calls == 1 ? r.output.ToString()
                               : r.multiply_adds != 0 ? ""  // called in another way than a layer
                                                      : "not reached";
    lines.push_back({r.path.empty() ? "(itself)" : r.path, r.type, output,
                     GroupedDigits(r.parameters), GroupedDigits(r.multiply_adds),
                     BytesText(r.output_bytes)});
  }
  lines.push_back({"total", "", "", GroupedDigits(parameters), GroupedDigits(multiply_adds),
                   BytesText(output_bytes)});
  return absl::StrCat(network, " on ", input, "; parameters take ", BytesText(parameter_bytes),
                      "\n", AlignedText(lines, 3));
}

}  // namespace firn::nn

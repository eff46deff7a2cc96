// Summary: a dry forward watched by hooks. Layers may drop children while they run (a residual unit
// that learns its input size), so the tree is read again after the forward and nothing is kept by
// pointer but what is still in it.

#include "firn/nn/summary.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/inner.h"
#include "firn/device/text_table.h"
#include "firn/tensor/dispatch.h"

namespace firn::nn {
namespace {

using firn::inner::internal::AlignedText;
using firn::inner::internal::BytesText;
using firn::inner::internal::GroupedDigits;

// Counts a module's calls while it lives; gives back modes and hooks.
class Watch {
 public:
  explicit Watch(Module& network) : network_(network) {
    network.VisitModules([this](Module& m) {
      training_[&m] = m.training();
      handles_.push_back(m.RegisterForwardHook([this](Module& layer, absl::Span<const Tensor> in,
                                                      Tensor& out) { Note(layer, in, out); }));
    });
    network.Eval();
  }
  ~Watch() {
    for (HookHandle& h : handles_) h.Remove();
    // Parents first: each sets all below it, and is corrected by them.
    network_.VisitModules([this](Module& m) { m.Train(training_[&m]); });
  }
  const SummaryTable::Row& seen(Module* m) { return seen_[m]; }

 private:
  void Note(Module& layer, absl::Span<const Tensor> in, const Tensor& out) {
    SummaryTable::Row& row = seen_[&layer];
    ++row.calls;
    row.output = out.shape();
    row.multiply_adds += layer.MultiplyAdds(in[0].shape(), out.shape());
    row.output_bytes += static_cast<int64_t>(out.spec().bytes());
  }

  Module& network_;
  std::map<Module*, bool> training_;
  std::vector<HookHandle> handles_;
  std::map<Module*, SummaryTable::Row> seen_;
};

}  // namespace

SummaryTable Summarise(Module& network, const std::string& input,
                       const std::function<void()>& forward) {
  SummaryTable table;
  table.network = network.type_name();
  table.input = input;
  const NoGradScope no_grad;
  Watch watch(network);
  forward();
  std::set<const TensorImpl*> counted;
  for (const NamedModule& m : network.named_modules()) {
    SummaryTable::Row row = watch.seen(m.module);
    row.path = m.name;
    row.type = m.module->type_name();
    for (const NamedTensor& p : m.module->named_parameters()) {
      const bool own = p.name.find('.') == std::string::npos;
      if (!own || !counted.insert(p.tensor.impl()).second) continue;
      row.parameters += p.tensor.num_elements();
      table.parameter_bytes += static_cast<int64_t>(p.tensor.spec().bytes());
    }
    if (row.parameters == 0 && (m.module->num_children() != 0 || row.calls == 0)) continue;
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
    const std::string output = r.calls == 0   ? "not reached"
                               : r.calls == 1 ? r.output.ToString()
                                              : absl::StrCat(r.calls, " x ", r.output.ToString());
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

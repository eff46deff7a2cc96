#include "tests/io/nnabla_network/nnabla_samples.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "firn/autograd/graph/capture.h"
#include "firn/io/nnabla_network/nnabla_export_status.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/testing/samples.h"
#include "tests/ops/calls.h"

namespace firn::testing {
namespace {

// Whether the tensor has a type for which NNabla's f32 cannot stand.
bool IsNarrow(const Tensor& t) {
  return t.defined() &&
         (t.dtype() == DType::kF16 || t.dtype() == DType::kBF16 || t.dtype() == DType::kF64);
}

// With `first`, exports only the first of several results: the others serve gradients, and may have
// no NNabla function.
NnablaSample Export(const std::string& folder, const Subject& subject, const Call& call,
                    const std::string& name, bool first) {
  NnablaSample sample;
  sample.name = name;
  std::vector<size_t> places;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].defined() && !DeclOf(subject, i).inout) places.push_back(i);
  }
  std::vector<Tensor> all = CopiesOf(call.inputs), inputs, written;
  for (const size_t i : places) inputs.push_back(all[i]);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].defined() && DeclOf(subject, i).inout) written.push_back(all[i]);
  }
  for (const Tensor& x : inputs) sample.inputs.push_back(CopyOf(x).To(DType::kF32));
  const std::vector<Tensor> before = CopiesOf(written);
  const Captured captured = Capture(
      [&](absl::Span<const Tensor> in) {
        std::vector<Tensor> arguments = all;
        for (size_t k = 0; k < places.size(); ++k) arguments[places[k]] = in[k];
        TensorList results = subject(arguments, call.attrs.ref());
        if (first) results.resize(1);
        return results;
      },
      inputs);
  for (size_t i = 0; i < captured.outputs.size(); ++i) {
    sample.outputs.Insert(absl::StrCat("output.", i), Contiguous(captured.outputs[i]));
  }
  if (std::any_of(captured.outputs.begin(), captured.outputs.end(), IsNarrow)) {
    sample.refused = "of a type of fewer bits";
    return sample;
  }
  const std::vector<Instr>& instrs = captured.graph.instrs;
  sample.draws = std::any_of(instrs.begin(), instrs.end(),
                             [](const Instr& instr) { return instr.op->random; });
  StateDict names;
  for (size_t i = 0; i < written.size(); ++i) {
    names.Insert(absl::StrCat("state", i), written[i]);
    if (!sample.draws && !written[i].Equals(before[i])) {
      sample.outputs.Insert(absl::StrCat("state", i, ".next"), CopyOf(written[i]));
    }
    written[i].CopyFrom(before[i]);
  }
  const std::string path = absl::StrCat(folder, "/", name, ".nnp");
  const auto report = io::TryExportNnabla(path, captured.graph, {.names = names});
  if (!report.ok() && captured.outputs.size() > 1) return Export(folder, subject, call, name, true);
  if (report.ok()) {
    sample.path = path;
  } else {
    sample.refused = absl::StrReplaceAll(std::string(report.status().message()), {{"\n", " "}});
  }
  return sample;
}

void ExportAll(const std::string& folder, bool keep, const Subject& subject, const Samples& samples,
               const std::string& op, absl::FunctionRef<void(const NnablaSample&)> f) {
  if (!samples.captured) return;
  int number = 0;
  for (const Sample& sample : samples.samples) {
    for (const Call& call : DTypeVariants(subject, sample)) {
      if (std::any_of(call.inputs.begin(), call.inputs.end(), IsNarrow)) continue;
      const std::string name = absl::StrCat(op, ".", number++);
      try {
        const NoGradScope no_grad;
        const NnablaSample exported = Export(folder, subject, call, name, false);
        f(exported);
        if (!keep && !exported.path.empty()) std::filesystem::remove(exported.path);
      } catch (const Error& error) {
        NnablaSample refused;
        refused.name = name;
        refused.refused = absl::StrCat("capture: ", error.what());
        f(refused);
      }
      break;
    }
  }
}

}  // namespace

void ForEachNnablaSample(const std::string& folder, bool keep,
                         absl::FunctionRef<void(const NnablaSample&)> f) {
  for (const inner::OpDef* op : inner::AllOps()) {
    const auto samples = SamplesOf(op->name);
    if (samples != nullptr) ExportAll(folder, keep, *op, *samples, std::string(op->name), f);
  }
  for (const std::string& name : Composites()) {
    const auto samples = SamplesOf(name);
    ExportAll(folder, keep, Subject::Composite(*samples), *samples, name, f);
  }
}

}  // namespace firn::testing

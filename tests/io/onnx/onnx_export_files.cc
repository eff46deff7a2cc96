// Every sample of every operation as an ONNX file, for onnx_export_python_test.py:
//   onnx_export_files FOLDER OPSET [OPERATION...]
// FOLDER/<operation>.<number>.onnx and .safetensors with its inputs "in.0", ... and results
// "out.0", ..., and what it writes in place before and after, "was.0", "next.0", ..., which the
// file calls "next.0.next"; prints a line for each that cannot be exported: the operation and why.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "firn/autograd/graph/capture.h"
#include "firn/io/onnx/onnx_status.h"
#include "firn/io/safetensors/safetensors.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/testing/samples.h"
#include "tests/ops/calls.h"

namespace firn::testing {
namespace {

// Whether the tensor has a type for which ONNX Runtime has few operations.
bool IsNarrow(const Tensor& t) {
  return t.defined() &&
         (t.dtype() == DType::kF16 || t.dtype() == DType::kBF16 || t.dtype() == DType::kF64);
}

// With `first`, exports only the first of several results: the others serve gradients, and may have
// no operator.
void Export(const std::string& folder, int opset, const Subject& subject, const Call& call,
            const std::string& name, bool first = false) {
  std::vector<size_t> places;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].defined()) continue;
    if (!DeclOf(subject, i).inout) places.push_back(i);
  }
  std::vector<Tensor> all = CopiesOf(call.inputs), inputs;
  for (const size_t i : places) inputs.push_back(all[i]);
  std::vector<Tensor> written;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].defined() && DeclOf(subject, i).inout) written.push_back(all[i]);
  }
  StateDict tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors.Insert(absl::StrCat("in.", i), CopyOf(inputs[i]));
  }
  const std::vector<Tensor> before = CopiesOf(written);
  Captured captured = Capture(
      [&](absl::Span<const Tensor> in) {
        std::vector<Tensor> arguments = all;
        for (size_t k = 0; k < places.size(); ++k) arguments[places[k]] = in[k];
        TensorList results = subject(arguments, call.attrs.ref());
        if (first) results.resize(1);
        return results;
      },
      inputs);
  for (size_t i = 0; i < captured.outputs.size(); ++i) {
    tensors.Insert(absl::StrCat("out.", i), Contiguous(captured.outputs[i]));
  }
  StateDict names;
  const auto draws = [](const Instr& instr) { return instr.op->random; };
  const std::vector<Instr>& instrs = captured.graph.instrs;
  // Runtimes have no generators that change from call to call.
  if (std::any_of(instrs.begin(), instrs.end(), draws)) written.clear();
  for (size_t i = 0; i < written.size(); ++i) {
    const std::string next = absl::StrCat("next.", i);
    tensors.Insert(absl::StrCat("was.", i), before[i]);
    tensors.Insert(next, CopyOf(written[i]));
    names.Insert(next, written[i]);
    written[i].CopyFrom(before[i]);
  }
  for (const Tensor& t : captured.outputs) {
    if (IsNarrow(t)) return;
  }
  const std::string path = absl::StrCat(folder, "/", name);
  const auto report =
      io::TryExportOnnx(path + ".onnx", captured.graph, {.opset = opset, .names = names});
  if (!report.ok() && captured.outputs.size() > 1) {
    return Export(folder, opset, subject, call, name, true);
  }
  if (!report.ok()) {
    const std::string why(report.status().message());
    std::cout << name << "\t" << absl::StrReplaceAll(why, {{"\n", " "}}) << "\n";
    return;
  }
  io::SaveSafetensors(path + ".safetensors", tensors);
}

void ExportAll(const std::string& folder, int opset, const Subject& subject, const Samples& samples,
               const std::string& op) {
  if (!samples.captured) return;
  int number = 0;
  for (const Sample& sample : samples.samples) {
    bool exported = false;  // in one dtype
    for (const Call& call : DTypeVariants(subject, sample)) {
      const bool narrow = std::any_of(call.inputs.begin(), call.inputs.end(), IsNarrow);
      if (narrow || std::exchange(exported, true)) continue;
      const std::string name = absl::StrCat(op, ".", number++);
      try {
        NoGradScope no_grad;
        Export(folder, opset, subject, call, name);
      } catch (const Error& error) {
        std::cout << name << "\tcapture: " << absl::StrReplaceAll(error.what(), {{"\n", " "}})
                  << "\n";
      }
    }
  }
}

}  // namespace
}  // namespace firn::testing

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string folder = argv[1];
  const int opset = std::atoi(argv[2]);
  const std::vector<std::string> only(argv + 3, argv + argc);
  const auto asked = [&](std::string_view name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  };
  // Convolutions are computed as sums of products, whose rounding is known.
  firn::SetWinogradAllowed(false);
  for (const firn::inner::OpDef* op : firn::inner::AllOps()) {
    const auto samples = firn::testing::SamplesOf(op->name);
    if (samples != nullptr && asked(op->name)) {
      firn::testing::ExportAll(folder, opset, *op, *samples, std::string(op->name));
    }
  }
  for (const std::string& name : firn::testing::Composites()) {
    if (!asked(name)) continue;
    const auto samples = firn::testing::SamplesOf(name);
    firn::testing::ExportAll(folder, opset, firn::testing::Subject::Composite(*samples), *samples,
                             name);
  }
}

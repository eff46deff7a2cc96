// Prints docs/onnx.md from the registries.
#include <iostream>
#include <string>

#include "firn/io/onnx/internal/onnx_export_call.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops.h"

int main() {
  using firn::io::internal::FindOnnxExport;
  std::string rows;
  int exported = 0, all = 0;
  for (const firn::inner::OpDef* op : firn::inner::AllOps()) {
    const auto* rule = FindOnnxExport(op->name);
    const bool can = rule != nullptr && rule->why_not.empty();
    ++all;
    exported += can;
    rows += "| `" + std::string(op->name) + "` | ";
    if (can) {
      rows += "yes";
    } else {
      rows += "no: ";
      rows += rule == nullptr ? "nothing says what it is in ONNX" : std::string(rule->why_not);
    }
    rows += " |\n";
  }
  std::cout << "# ONNX\n\n"
               "What `io::ExportOnnx` (`io/onnx/onnx_export.h`) makes of each operation: "
               "`io/onnx/export` says it, one page\n"
               "a family, and a test holds this page to it. After a change, print it anew:\n\n"
               "    bazel run //tests/docs:onnx_page > docs/onnx.md\n\n"
               "Functions that are composed of operations are exported as those. An operation that "
               "says yes may still refuse\n"
               "some of its options; the error names it, its module and why, and for what a newer "
               "opset has, that opset.\n"
               "ONNX leaves open what a number becomes in an integer type that does not hold it, "
               "and where a NaN stands\n"
               "among numbers; there a runtime may give something else than Firn.\n\n"
            << exported << " of " << all << " operations are exported.\n\n"
            << "| operation | exported |\n|---|---|\n"
            << rows;
}

// Prints docs/onnx.md from the registries.
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "firn/io/onnx/internal/onnx_export_call.h"
#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/ops.h"
#include "tests/docs/export_table.h"

namespace firn::io::internal {
namespace {

constexpr char kExport[] =
    "# ONNX\n"
    "\n"
    "The operations that Firn writes to ONNX files, and the ONNX operators that it reads, printed "
    "from their registries; a\n"
    "test compares this page. To print it again:\n"
    "\n"
    "    bazel run //tests/docs:onnx_page > docs/onnx.md\n"
    "\n"
    "## Export\n"
    "\n"
    "Whether `io::ExportOnnx` (`io/onnx/onnx_export.h`) can write each operation. `io/onnx/export` "
    "has the rules. A function\n"
    "that is composed of operations is exported as those. An operation with \"yes\" may still "
    "refuse some of its options; the\n"
    "error names the option, the module, the reason, and the opset if a newer one would help. ONNX "
    "does not define what a\n"
    "number becomes in an integer type that cannot hold it, nor how NaN compares with numbers; "
    "there a runtime may give other\n"
    "results than Firn.\n"
    "\n";

constexpr char kImport[] =
    "\n"
    "## Import\n"
    "\n"
    "The operators that `io::ImportOnnx` (`io/onnx/onnx.h`) reads, and the opsets in which their "
    "definitions begin.\n"
    "`io/onnx/ops` has the code. An operator of a domain other than ONNX's own has the domain "
    "before its name.\n"
    "Experimental operators of ONNX 1.0 to 1.4, such as `ConstantFill`, are not read: the standard "
    "no longer defines them,\n"
    "and nothing would tell whether Firn computes them rightly. PyTorch writes `ConstantOfShape` "
    "instead from opset 9 on.\n"
    "\n";

void PrintExport() { std::cout << kExport << firn::testing::ExportTable("ONNX", FindOnnxExport); }

void PrintImport() {
  std::map<std::string, std::pair<std::string, std::string>> operators;  // opsets, why not
  ForEachOnnxOp([&](const OnnxOp& op) {
    const std::string domain(op.options.domain);
    auto& [opsets, refused] =
        operators[(domain.empty() ? "" : domain + ".") + std::string(op.name)];
    if (!opsets.empty()) opsets += ", ";
    opsets += std::to_string(op.since);
    refused = std::string(op.options.refused);
  });
  std::string rows;
  size_t taken = 0;
  for (const auto& [name, said] : operators) {
    taken += said.second.empty();
    rows += "| `" + name + "` | ";
    rows += (said.second.empty() ? said.first : "no: " + said.second) + " |\n";
  }
  std::cout << kImport << taken << " of " << operators.size()
            << " operators are read.\n\n| operator | from opset |\n|---|---|\n"
            << rows;
}

}  // namespace
}  // namespace firn::io::internal

int main() {
  firn::io::internal::PrintExport();
  firn::io::internal::PrintImport();
}

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
    "# ONNX\n\n"
    "What Firn writes to ONNX files and what it reads from them, as its registries say it; a test "
    "holds this page to\n"
    "them. After a change, print it anew:\n\n"
    "    bazel run //tests/docs:onnx_page > docs/onnx.md\n\n"
    "## Export\n\n"
    "What `io::ExportOnnx` (`io/onnx/onnx_export.h`) makes of each operation; `io/onnx/export` "
    "says it, one page a family.\n"
    "Functions that are composed of operations are exported as those. An operation that says yes "
    "may still refuse\n"
    "some of its options; the error names it, its module and why, and for what a newer opset has, "
    "that opset.\n"
    "ONNX leaves open what a number becomes in an integer type that does not hold it, and where a "
    "NaN stands\n"
    "among numbers; there a runtime may give something else than Firn.\n\n";

constexpr char kImport[] =
    "\n## Import\n\n"
    "The operators that `io::ImportOnnx` (`io/onnx/onnx.h`) takes, and the opsets from which each "
    "of their definitions\n"
    "is the one that counts; `io/onnx/ops` has them. Domains other than ONNX's own stand before "
    "the name.\n"
    "Experimental operators of ONNX 1.0 to 1.4, such as `ConstantFill`, are not read: the standard "
    "defines them no more, and\n"
    "nothing would tell whether Firn computes them rightly. PyTorch writes `ConstantOfShape` in "
    "its place from opset 9 on.\n\n";

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
            << " operators are taken.\n\n| operator | from opset |\n|---|---|\n"
            << rows;
}

}  // namespace
}  // namespace firn::io::internal

int main() {
  firn::io::internal::PrintExport();
  firn::io::internal::PrintImport();
}

// Prints docs/nnabla_export.md from the registry.
#include <iostream>
#include <string>

#include "firn/io/nnabla_network/internal/nnabla_export_call.h"
#include "firn/tensor/op.h"

namespace firn::io::internal {
namespace {

constexpr char kHead[] =
    "# Export to NNabla\n\n"
    "What `io::ExportNnabla` (`io/nnabla_network/nnabla_export.h`) makes of each operation; "
    "`io/nnabla_network/export` says\n"
    "it, one page a family, and a test holds this page to them. After a change, print it anew:\n\n"
    "    bazel run //tests/docs:nnabla_export_page > docs/nnabla_export.md\n\n"
    "Functions that are composed of operations are exported as those. An operation that says yes "
    "may still refuse\n"
    "some of its options; the error names it, its module and why. NNabla computes in f32: integers "
    "are exact up to 2^24\n"
    "there, and bools are 0 and 1. What follows the batch is the first dimension alone, or another "
    "one of that size;\n"
    "a size such as twice the batch is refused where the batch may be any. In NNabla 1.39 Max "
    "begins "
    "at -1e8 and Min at\n"
    "1e8, which nothing beyond shows in, and Sort has equal numbers in any order.\n\n";

void Print() {
  std::string rows;
  int exported = 0, all = 0;
  for (const firn::inner::OpDef* op : firn::inner::AllOps()) {
    const NnablaExportRule* rule = FindNnablaExport(op->name);
    const bool can = rule != nullptr && rule->why_not.empty();
    ++all;
    exported += can;
    rows += "| `" + std::string(op->name) + "` | ";
    if (can) {
      rows += "yes";
    } else {
      rows += "no: ";
      rows += rule == nullptr ? "nothing says what it is in NNabla" : std::string(rule->why_not);
    }
    rows += " |\n";
  }
  std::cout << kHead << exported << " of " << all << " operations are exported.\n\n"
            << "| operation | exported |\n|---|---|\n"
            << rows;
}

}  // namespace
}  // namespace firn::io::internal

int main() { firn::io::internal::Print(); }

// Prints docs/nnabla_export.md from the registry.
#include <iostream>

#include "firn/io/nnabla_network/internal/nnabla_export_call.h"
#include "tests/docs/export_table.h"

namespace firn::io::internal {
namespace {

constexpr char kHead[] =
    "# Export to NNabla\n"
    "\n"
    "Whether `io::ExportNnabla` (`io/nnabla_network/nnabla_export.h`) can write each operation. "
    "`io/nnabla_network/export`\n"
    "has the rules. This page is printed from them, and a test compares it. To print it again:\n"
    "\n"
    "    bazel run //tests/docs:nnabla_export_page > docs/nnabla_export.md\n"
    "\n"
    "A function that is composed of operations is exported as those. An operation with \"yes\" may "
    "still refuse some of its\n"
    "options; the error names the option, the module and the reason. NNabla computes in f32: "
    "integers are exact up to 2^24\n"
    "there, and bools are 0 and 1. If the file is for batches of any size, only the first "
    "dimension and others of the same\n"
    "size follow the batch; a size such as twice the batch is refused. In NNabla 1.39, Max never "
    "returns less than -1e8, Min\n"
    "never more than 1e8, and Sort returns equal numbers in any order. `linear_scan` multiplies "
    "factors by each other before\n"
    "it adds terms: if the product of neighbours leaves the range of f32, the result may be NaN.\n"
    "\n";

}  // namespace
}  // namespace firn::io::internal

int main() {
  std::cout << firn::io::internal::kHead
            << firn::testing::ExportTable("NNabla", firn::io::internal::FindNnablaExport);
}

// Prints docs/nnabla_export.md from the registry.
#include <iostream>

#include "firn/io/nnabla_network/internal/nnabla_export_call.h"
#include "tests/docs/export_table.h"

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
    "1e8, which nothing beyond shows in, and Sort has equal numbers in any order. linear_scan "
    "multiplies factors before\n"
    "they meet terms: where a product of neighbours leaves f32's range there may be NaN.\n\n";

}  // namespace
}  // namespace firn::io::internal

int main() {
  std::cout << firn::io::internal::kHead
            << firn::testing::ExportTable("NNabla", firn::io::internal::FindNnablaExport);
}

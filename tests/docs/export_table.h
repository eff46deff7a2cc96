#ifndef FIRN_TESTS_DOCS_EXPORT_TABLE_H_
#define FIRN_TESTS_DOCS_EXPORT_TABLE_H_

// Prints the table of operations on an exporter's page.

#include <string>

#include "firn/tensor/op.h"

namespace firn::testing {

// "7 of 9 operations are exported.", and a row for each. `find` gives the exporter's rule for an
// operation's name, or null.
template <class Find>
std::string ExportTable(const char* format, const Find& find) {
  std::string rows;
  int exported = 0, all = 0;
  for (const inner::OpDef* op : inner::AllOps()) {
    const auto* rule = find(op->name);
    std::string why_not = rule == nullptr ? std::string("nothing says what it is in ") + format
                                          : std::string(rule->why_not);
    ++all;
    exported += why_not.empty();
    rows += "| `" + std::string(op->name) + "` | " + (why_not.empty() ? "yes" : "no: " + why_not) +
            " |\n";
  }
  return std::to_string(exported) + " of " + std::to_string(all) +
         " operations are exported.\n\n| operation | exported |\n|---|---|\n" + rows;
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_DOCS_EXPORT_TABLE_H_

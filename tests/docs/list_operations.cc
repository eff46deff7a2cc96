// What the registry says of each operation, for tools/operations_page.py: its name, whether it is
// differentiable, whether it is a view, and the dtypes of its first input.

#include <cstdio>
#include <string>

#include "firn/tensor/op.h"

namespace firn::inner {
namespace {

std::string DTypesOf(const OpDef& op) {
  if (op.inputs.empty()) return "-";
  const DTypeSet set = op.inputs[0].dtypes;
  if (set == kAnyDType) return "any";
  if (set == kNumeric) return "all but bool";
  if (set == kFloating) return "floating";
  if (set == kIntegral) return "integers";
  return DTypeNames(set);
}

}  // namespace
}  // namespace firn::inner

int main() {
  for (const firn::inner::OpDef* op : firn::inner::AllOps()) {
    std::printf("%s\t%s\t%s\t%s\n", std::string(op->name).c_str(), op->grad ? "yes" : "no",
                op->is_view ? "view" : "kernels", firn::inner::DTypesOf(*op).c_str());
  }
}

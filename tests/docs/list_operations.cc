// Prints what registries say, for tools/scripts/operations_page.py. For each operation: its name,
// whether it is differentiable, whether it is a view, and the dtypes of its first input. For each
// function that has names elsewhere: its name, those in NNabla and those in ONNX.

#include <cstdio>
#include <string>
#include <string_view>

#include "firn/io/exchange/names.h"
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

std::string Listed(const io::internal::Names& names) {
  std::string list;
  for (const std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list.empty() ? "-" : list;
}

}  // namespace
}  // namespace firn::inner

int main() {
  for (const firn::inner::OpDef* op : firn::inner::AllOps()) {
    std::printf("operation\t%s\t%s\t%s\t%s\n", std::string(op->name).c_str(),
                op->grad ? "yes" : "no", op->is_view ? "view" : "kernels",
                firn::inner::DTypesOf(*op).c_str());
  }
  for (const auto& [function, elsewhere] : firn::io::internal::AllFunctionNames()) {
    std::printf("names\t%s\t%s\t%s\n", std::string(function).c_str(),
                firn::inner::Listed(elsewhere.nnabla).c_str(),
                firn::inner::Listed(elsewhere.onnx).c_str());
  }
}

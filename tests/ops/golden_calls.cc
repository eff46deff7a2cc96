// A case's words become arguments by name alone: a declaration has the names of inputs, and Visit
// those of attributes. So a new operation with vectors needs no code here.

#include "tests/ops/golden_calls.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/check.h"
#include "firn/tensor/op.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

Attrs AttrsFrom(const AttrsType* type, GoldenArgs& args) {
  if (type == nullptr) return {};
  alignas(64) unsigned char memory[1024];
  FIRN_CHECK(type->size <= sizeof(memory) && type->align <= 64, type->size);
  type->construct(memory);
  Attrs attrs(AttrsRef(memory, type));
  type->destroy(memory);
  SetAttrs(args, type, attrs.mutable_data());
  return attrs;
}

// One tensor for each declared input, and a list or a single one for a variadic input.
std::vector<Tensor> InputsFrom(const OpDef& declaration, GoldenArgs& args) {
  std::vector<Tensor> in;
  std::vector<std::vector<Tensor>> lists;
  size_t repetitions = 0;
  for (const ArgDecl& d : declaration.inputs) {
    const std::string name(d.name);
    if (!d.variadic) {
      in.push_back(args[name]);
      continue;
    }
    lists.push_back(args.List(name));
    if (lists.back().empty()) lists.back().push_back(args[name]);
    repetitions = std::max(repetitions, lists.back().size());
  }
  for (size_t r = 0; r < repetitions; ++r) {
    for (const std::vector<Tensor>& list : lists) {
      in.push_back(r < list.size() ? list[r] : Tensor());
    }
  }
  return in;
}

StateDict Named(const OpDef& declaration, std::vector<Tensor> results) {
  StateDict named;
  const std::vector<ArgDecl>& outputs = declaration.outputs;
  const bool list = !outputs.empty() && outputs[0].variadic;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string name = list ? absl::StrCat("y.", i) : std::string(outputs[i].name);
    if (i == 0 && !list) named.Set("y", results[i]);
    named.Set(name, std::move(results[i]));
  }
  return named;
}

}  // namespace

bool IsCallable(const std::string& name) {
  const auto samples = SamplesOf(name);
  return FindGolden(name) != nullptr || (samples != nullptr && !samples->functions.empty());
}

StateDict Call(const std::string& name, GoldenArgs& args) {
  if (const GoldenFn adapter = FindGolden(name)) return adapter(args).named;
  const auto samples = SamplesOf(name);
  const OpDef* op = FindOp(name);
  const OpDef& declaration = op != nullptr ? *op : samples->declaration;
  const Attrs attrs = AttrsFrom(declaration.attrs, args);
  const std::vector<Tensor> in = InputsFrom(declaration, args);
  return Named(declaration, samples->functions.at(0)(In(in), attrs.ref()));
}

}  // namespace firn::testing

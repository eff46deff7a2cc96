// A case's words become arguments by name alone: an operation declares the names of its inputs, and
// Visit tells those of its attributes. So a new operation with vectors needs no code here.

#include "tests/ops/golden_calls.h"

#include <algorithm>
#include <vector>

#include "device/check.h"
#include "tensor/apply.h"

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
std::vector<Tensor> InputsFrom(const OpDef& op, GoldenArgs& args) {
  std::vector<Tensor> in;
  std::vector<std::vector<Tensor>> lists;
  size_t repetitions = 0;
  for (const ArgDecl& d : op.inputs) {
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

}  // namespace

StateDict CallOp(const OpDef& op, GoldenArgs& args) {
  const Attrs attrs = AttrsFrom(op.attrs, args);
  const std::vector<Tensor> in = InputsFrom(op, args);
  const std::vector<TensorRef> refs(in.begin(), in.end());
  const TensorList out = Apply(op, refs, attrs.ref());
  StateDict results;
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    results.Set(std::string(op.outputs[i].name), out[i]);
    if (i == 0) results.Set("y", out[i]);
  }
  return results;
}

}  // namespace firn::testing

// The registry of operations. Filled by static initialisers, in any order; kernels registered from
// other files than the operation's wait until both are there. Read-only after main() has begun.

#include "tensor/op.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "device/check.h"
#include "tensor/infer.h"

namespace firn {
namespace {

struct Registry {
  std::mutex mutex;  // registration only: shared libraries may be opened while others start
  std::map<std::string, std::unique_ptr<OpDef>, std::less<>> ops;
  std::multimap<std::string, std::vector<Kernel>, std::less<>> waiting;
};

Registry& TheRegistry() {
  static Registry* registry = new Registry;  // never destroyed: global tensors outlive main()
  return *registry;
}

// OpDef::alike.
DTypeSet DTypesOfAlike(const OpDef& op) {
  if ((op.infer != InferLikeInput && op.infer != InferBroadcast) || op.inputs.empty() ||
      op.index_bounds != nullptr) {
    return 0;
  }
  DTypeSet dtypes = kAnyDType;
  for (const ArgDecl& decl : op.inputs) {
    if (decl.inout || decl.variadic || decl.min_rank > 0 || decl.max_rank < kMaxRank) return 0;
    dtypes &= decl.dtypes;
  }
  return dtypes;
}

// What Apply would otherwise look up at every call.
void Resolve(OpDef& op) {
  for (const ArgDecl& decl : op.inputs) op.cycle += decl.variadic ? 1u : 0u;
  for (size_t i = 0; i < op.cycle; ++i) {
    FIRN_CHECK(op.inputs[op.inputs.size() - 1 - i].variadic, "variadic inputs of ",
               std::string(op.name), " are not the last ones");
  }
  op.alike = DTypesOfAlike(op);
  // Saved values are found by one position, see autograd/tape/op_node.cc.
  FIRN_CHECK(op.cycle <= 1 || op.grad == nullptr, std::string(op.name));
  for (ArgDecl& decl : op.inputs) {
    op.any_inout |= decl.inout;
    if (decl.same_dtype_as.empty()) continue;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i].name == decl.same_dtype_as) decl.same_as = static_cast<int>(i);
    }
    FIRN_CHECK(decl.same_as >= 0, "no input ", std::string(decl.same_dtype_as), " in operation ",
               std::string(op.name));
  }
}

// Kernels from other files go before the operation's own ones, which end with the reference.
// A device's reference, "loop", comes after what libraries and others have, whoever registers
// first.
void AddKernels(OpDef& op, std::vector<Kernel> kernels) {
  op.kernels.insert(op.kernels.begin(), kernels.begin(), kernels.end());
  std::stable_partition(op.kernels.begin(), op.kernels.end(),
                        [](const Kernel& k) { return k.name != "loop"; });
}

}  // namespace

OpRegistration::OpRegistration(OpDef def) {
  Registry& r = TheRegistry();
  std::lock_guard lock(r.mutex);
  std::string name(def.name);
  Resolve(def);
  auto [it, inserted] = r.ops.emplace(name, std::make_unique<OpDef>(std::move(def)));
  FIRN_CHECK(inserted, "operation registered twice: ", name);
  auto [begin, end] = r.waiting.equal_range(name);
  for (auto w = begin; w != end; ++w) AddKernels(*it->second, std::move(w->second));
  r.waiting.erase(begin, end);
}

KernelRegistration::KernelRegistration(std::string_view op, std::vector<Kernel> kernels) {
  Registry& r = TheRegistry();
  std::lock_guard lock(r.mutex);
  auto it = r.ops.find(op);
  if (it != r.ops.end()) {
    AddKernels(*it->second, std::move(kernels));
  } else {
    r.waiting.emplace(std::string(op), std::move(kernels));
  }
}

const OpDef* FindOp(std::string_view name) {
  Registry& r = TheRegistry();
  auto it = r.ops.find(name);
  return it == r.ops.end() ? nullptr : it->second.get();
}

const OpDef& Op(std::string_view name) {
  const OpDef* op = FindOp(name);
  FIRN_CHECK(op != nullptr, "operation ", std::string(name), " is not linked into this program");
  return *op;
}

std::vector<const OpDef*> AllOps() {
  std::vector<const OpDef*> all;
  for (const auto& [name, op] : TheRegistry().ops) all.push_back(op.get());
  return all;
}

}  // namespace firn

// The registry of operations. Filled by static initialisers, in any order; kernels registered from
// other files than the operation's wait until both are there.
//
// Shared libraries may be opened while other threads compute: all reads of the table hold its lock,
// and an operation is fixed from the moment when it is first returned. A later registration that
// would have to change it makes later look-ups of the name fail instead.

#include "firn/tensor/op.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/edit_distance.h"
#include "firn/device/fork.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/infer.h"
#include "firn/tensor/internal/level_kernels.h"
#include "firn/tensor/internal/op_checks.h"

namespace firn {
namespace {

// The entry of a name.
struct Entry {
  std::unique_ptr<OpDef> op;  // null: none, or refused at once
  std::vector<std::vector<Kernel>> waiting;
  bool given = false;                    // it was returned, so references exist
  std::string refusal;                   // why look-ups fail (from now on)
  std::string alias;                     // of a refused one: OpDef::name where it is not the stem
  std::vector<Kernel> of_level;          // kernels of another level, for the CPU
  std::optional<Packing> level_packing;  // what goes with them
};

struct Registry {
  Registry() { KeepOverFork(mutex, ForkOrder::kTables); }

  std::mutex mutex;
  std::map<std::string, Entry, std::less<>> entries;
  bool takes_level = false;  // between BeginLevelKernels and EndLevelKernels
};

Registry& TheRegistry() {
  static Registry* registry = new Registry;  // never destroyed: global tensors outlive main()
  return *registry;
}

void Refuse(Entry& entry, std::string reason) {
  if (entry.refusal.empty()) entry.refusal = std::move(reason);
}

// OpDef::alike.
DTypeSet DTypesOfAlike(const OpDef& op) {
  if ((op.infer != InferLikeInput && op.infer != InferBroadcast) || op.inputs.empty() ||
      op.index_bounds != nullptr || op.collective) {
    return 0;
  }
  DTypeSet dtypes = kAnyDType;
  for (const ArgDecl& decl : op.inputs) {
    if (decl.inout || decl.variadic || decl.min_rank > 0 || decl.max_rank < kMaxRank) return 0;
    dtypes &= decl.dtypes;
  }
  return dtypes;
}

// Fills in what Apply would otherwise look up at every call. Requires: `op` is valid.
void Resolve(OpDef& op) {
  op.alike = DTypesOfAlike(op);
  const bool few = op.alike != 0 && op.inputs.size() <= kMaxAlike;
  op.alike_inputs = few ? static_cast<uint32_t>(op.inputs.size()) : 0;
  for (ArgDecl& decl : op.inputs) {
    op.cycle += decl.variadic ? 1u : 0u;
    op.any_inout |= decl.inout;
    for (size_t i = 0; i < op.inputs.size() && !decl.same_dtype_as.empty(); ++i) {
      if (op.inputs[i].name == decl.same_dtype_as) decl.same_as = static_cast<int>(i);
    }
  }
}

// Kernels from other files go before the operation's own ones, which end with the reference.
// A device's reference, "loop", comes after kernels of libraries and others, in any order of
// registration.
void AddKernels(OpDef& op, std::vector<Kernel> kernels) {
  op.kernels.insert(op.kernels.begin(), kernels.begin(), kernels.end());
  std::stable_partition(op.kernels.begin(), op.kernels.end(),
                        [](const Kernel& k) { return k.name != "loop"; });
}

void JoinKernels(Entry& entry) {
  if (entry.op == nullptr || entry.waiting.empty()) return;
  if (entry.op->is_view) return Refuse(entry, "it is a view and has kernels");
  if (entry.given) {
    return Refuse(entry,
                  "kernels were registered for it after its first use; open libraries that bring "
                  "kernels before");
  }
  for (std::vector<Kernel>& kernels : entry.waiting) AddKernels(*entry.op, std::move(kernels));
  entry.waiting.clear();
}

// Takes the CPU's kernels of another level; other kernels do not depend on the level. Kernels of
// operations that the program does not have are ignored.
void TakeLevelKernels(Registry& r, std::string_view stem, std::vector<Kernel> kernels,
                      const std::optional<Packing>& packing) {
  const auto found = r.entries.find(stem);
  if (found == r.entries.end()) return;
  Entry& entry = found->second;
  std::erase_if(kernels, [](const Kernel& k) { return k.device != DeviceType::kCpu; });
  entry.of_level.insert(entry.of_level.begin(), kernels.begin(), kernels.end());
  if (packing.has_value()) entry.level_packing = packing;
}

// The reason why look-ups fail, or "".
std::string RefusalOf(std::string_view name, const Entry& entry) {
  if (!entry.refusal.empty()) return entry.refusal;
  if (entry.op == nullptr) {
    return absl::StrCat("it has kernels, but FIRN_REGISTER_OP(", std::string(name),
                        ") is not linked into this program");
  }
  const bool without = entry.op->kernels.empty() && !entry.op->is_view;
  return without ? "it has no kernels (OpDef::kernels, FIRN_REGISTER_KERNELS)" : "";
}

absl::Status RefusalStatus(std::string_view name, const std::string& reason) {
  return FailedPrecondition("operation ", std::string(name), " was refused: ", reason);
}

// The operation, which is fixed from now on; null where there is none.
const OpDef* Give(std::string_view name, Entry& entry) {
  if (!RefusalOf(name, entry).empty()) return nullptr;
  entry.given = true;
  return entry.op.get();
}

// The existing operation with the nearest name. Requires: the lock.
std::string NearestName(const Registry& r, std::string_view name) {
  std::string nearest;
  size_t least = name.size() / 2 + 1;  // names that share less than half are not suggested
  for (const auto& [stem, entry] : r.entries) {
    const size_t distance = internal::EditDistance(name, stem);
    if (distance >= least || !RefusalOf(stem, entry).empty()) continue;
    least = distance;
    nearest = stem;
  }
  return nearest;
}

}  // namespace

OpRegistration::OpRegistration(std::string_view stem, OpDef def) {
  Registry& r = TheRegistry();
  std::lock_guard lock(r.mutex);
  if (r.takes_level) {
    TakeLevelKernels(r, stem, std::move(def.kernels), TraitsOf(def).packing);
    return;
  }
  if (def.name.empty()) def.name = stem;
  Entry& entry = r.entries[std::string(stem)];
  std::string wrong =
      entry.op != nullptr ? "it is registered twice" : internal::WhatIsWrong(def, stem);
  if (!wrong.empty()) {
    if (def.name != stem) entry.alias = std::string(def.name);
    Refuse(entry, std::move(wrong));
    return;
  }
  Resolve(def);
  entry.op = std::make_unique<OpDef>(std::move(def));
  JoinKernels(entry);
}

KernelRegistration::KernelRegistration(std::string_view op, std::vector<Kernel> kernels) {
  Registry& r = TheRegistry();
  std::lock_guard lock(r.mutex);
  if (r.takes_level) {
    TakeLevelKernels(r, op, std::move(kernels), std::nullopt);
    return;
  }
  Entry& entry = r.entries[std::string(op)];
  if (std::string wrong = internal::WhatIsWrong(kernels); !wrong.empty()) {
    Refuse(entry, std::move(wrong));
    return;
  }
  entry.waiting.push_back(std::move(kernels));
  JoinKernels(entry);
}

void internal::BeginLevelKernels() {
  Registry& r = TheRegistry();
  std::lock_guard lock(r.mutex);
  r.takes_level = true;
}

void internal::EndLevelKernels() {
  Registry& r = TheRegistry();
  std::lock_guard lock(r.mutex);
  r.takes_level = false;
  for (auto& [name, entry] : r.entries) {
    if (entry.op == nullptr || entry.of_level.empty()) continue;
    OpDef& op = *entry.op;
    std::erase_if(op.kernels, [](const Kernel& k) { return k.device == DeviceType::kCpu; });
    AddKernels(op, std::move(entry.of_level));
    if (!entry.level_packing.has_value()) continue;
    auto* const traits = new GraphTraits(*op.graph);  // as long as the operation
    traits->packing = entry.level_packing;
    op.graph = traits;
  }
}

const OpDef* inner::FindOp(std::string_view name) {
  Registry& r = TheRegistry();
  std::lock_guard lock(r.mutex);
  auto it = r.entries.find(name);
  return it == r.entries.end() ? nullptr : Give(name, it->second);
}

absl::Status inner::WhyNoOp(std::string_view name) {
  Registry& r = TheRegistry();
  std::lock_guard lock(r.mutex);
  for (const auto& [stem, entry] : r.entries) {
    if (stem != name && (entry.alias.empty() || entry.alias != name)) continue;
    if (const std::string why = RefusalOf(stem, entry); !why.empty()) {
      return RefusalStatus(name, why);
    }
  }
  const std::string nearest = NearestName(r, name);
  const std::string ask = nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
  return NotFound("operation '", std::string(name), "' is not linked into this program", ask);
}

const OpDef& inner::Op(std::string_view name) {
  const OpDef* op = FindOp(name);
  if (op == nullptr) RaiseStatus(WhyNoOp(name), "");
  return *op;
}

std::vector<const OpDef*> inner::AllOps() {
  Registry& r = TheRegistry();
  std::lock_guard lock(r.mutex);
  std::vector<const OpDef*> all;
  for (auto& [name, entry] : r.entries) {
    if (const OpDef* op = Give(name, entry)) all.push_back(op);
  }
  return all;
}

std::vector<absl::Status> inner::RefusedOps() {
  Registry& r = TheRegistry();
  std::lock_guard lock(r.mutex);
  std::vector<absl::Status> all;
  for (const auto& [name, entry] : r.entries) {
    if (const std::string why = RefusalOf(name, entry); !why.empty()) {
      all.push_back(RefusalStatus(name, why));
    }
  }
  return all;
}

}  // namespace firn

// How reports name operations.

#include "firn/autograd/graph/passes/pass.h"

#include "absl/strings/str_cat.h"

namespace firn {

std::string Describe(const Instr& instr) {
  return absl::StrCat(std::string(instr.op->name),
                      instr.path == nullptr ? "" : absl::StrCat(" at ", *instr.path),
                      instr.phase == Phase::kBackward ? " (backward)" : "");
}

}  // namespace firn

#ifndef FIRN_IO_TORCH_INTERNAL_TORCH_OPTIMIZER_KINDS_H_
#define FIRN_IO_TORCH_INTERNAL_TORCH_OPTIMIZER_KINDS_H_

// The optimizers that torch.optim and Firn both have. State dicts name no optimizer; its kind
// follows from the options, since no two kinds that step differently have the same ones (Adam and
// AdamW have, so a program has to make the right one, here as in PyTorch).

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

struct TorchOption {
  std::string_view firn, torch;  // torch: the path below the group, "betas.0" in a pair
  bool flag = false;
  bool none = false;  // 0 is None there
};

// Returns null where PyTorch has no word for that option of Firn's.
const TorchOption* FindTorchOption(std::string_view firn);

// The second option of a pair, by the first one; null for other options.
const TorchOption* OtherOfPair(const TorchOption& option);

// Words between spaces. A kind has all of `options` besides lr, those of `later` only in files of
// newer versions of PyTorch, and those of `torch_only` only in files.
struct TorchOptimizerKind {
  std::string_view name;             // in torch.optim
  std::string_view options;          // Firn's words
  std::string_view states;           // besides step; the same words in both
  std::string_view firn_only = {};   // a group of Firn's may have them
  std::string_view later = {};       // some of `options`
  std::string_view torch_only = {};  // words of PyTorch's
};

// The kind whose options are those of the group ("momentum", ...). Unimplemented, naming `where`,
// if PyTorch has none.
absl::StatusOr<const TorchOptimizerKind*> KindOfGroup(std::string_view where,
                                                      const StateDict& group);

// Unimplemented unless the group's options that only Firn has stand for what PyTorch does.
absl::Status CheckFirnOnly(std::string_view where, const StateDict& group,
                           const TorchOptimizerKind& kind);

// Whether the file's group ("betas.0", ...) may be one of that kind, as far as words of any kind
// say; others, such as those of schedules, may stand there. DataLoss naming `where`.
absl::Status CheckTorchGroup(const std::string& where, const StateDict& group,
                             const TorchOptimizerKind& kind);

bool HasState(const TorchOptimizerKind& kind, std::string_view state);

}  // namespace firn::io::internal

#endif  // FIRN_IO_TORCH_INTERNAL_TORCH_OPTIMIZER_KINDS_H_

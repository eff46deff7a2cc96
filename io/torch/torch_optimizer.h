#ifndef FIRN_IO_TORCH_TORCH_OPTIMIZER_H_
#define FIRN_IO_TORCH_TORCH_OPTIMIZER_H_

// State dicts of torch.optim's SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam,
// Rprop and Adafactor in files of torch.save, from and to state dicts of Firn's optimizers of the
// same kind. Not supported are ASGD and SparseAdam, which Firn does not have, Muon, which iterates
// in bf16 in PyTorch, and LBFGS, whose history differs.
//
//   // torch.save(optimizer.state_dict(), "adam.pt")
//   optim::Adam adam(net.parameters());
//   adam.LoadStateDict(io::LoadTorchOptimizer("adam.pt", adam.state_dict()));
//   io::SaveTorchOptimizer("back.pt", adam.state_dict(), {.parameters = {"0", "1"}});

#include <cstdint>
#include <string>
#include <vector>

#include "firn/io/load_limits.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

struct TorchOptimizerOptions {
  // The optimizer's names for its parameters, in PyTorch's order, which numbers them through all
  // groups: the names of module.named_parameters(), or "0", "1", ... for an optimizer of
  // parameters() without names. Empty, in loading: the latter.
  std::vector<std::string> parameters = {};
  // In saving: how many parameters each group has; empty: one group has all.
  std::vector<int64_t> groups = {};
  // In loading: the path to the state dict in the file, such as "optimizer" for {"optimizer": ...}.
  std::string part = {};
  LoadLimits limits = {};
};

// The state dict that goes on from the file: its states, and the options ("groups.0.lr", ...) of
// `optimizer`, the present state dict of Firn's optimizer. Options that the file has replace these;
// options that only Firn has stay. SGD's velocity counts as that of a second step. Throws
// firn::Error: DataLoss, naming file and entry, for a file without an optimizer's state dict, with
// a parameter number that `parameters` does not cover, with another number of groups, or with
// options or states of another kind (Adam's and AdamW's are the same); Unimplemented for `maximize`
// and for optimizers that PyTorch does not have; and as LoadTorch.
StateDict LoadTorchOptimizer(const std::string& path, const StateDict& optimizer,
                             const TorchOptimizerOptions& options = {});

// Writes a file for optimizer.load_state_dict(torch.load(path, weights_only=True)) of torch.optim.
// Throws firn::Error: InvalidArgument for states of parameters that `parameters` does not name,
// `groups` that are not as many as the optimizer's or do not add up to all, and Unimplemented for
// optimizers that PyTorch does not have, which their options tell (Lion, SgdW, RmspropGraves, ...),
// and for options that it does not have (NNabla's semantics, ...); as SaveTorch.
void SaveTorchOptimizer(const std::string& path, const StateDict& optimizer,
                        const TorchOptimizerOptions& options);

}  // namespace firn::io

#endif  // FIRN_IO_TORCH_TORCH_OPTIMIZER_H_

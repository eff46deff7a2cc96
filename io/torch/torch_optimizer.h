#ifndef FIRN_IO_TORCH_TORCH_OPTIMIZER_H_
#define FIRN_IO_TORCH_TORCH_OPTIMIZER_H_

// State dicts of torch.optim's SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam,
// Rprop and Adafactor in files of torch.save, from and to state dicts of Firn's optimizers of the
// same kind. Not of ASGD, which Firn does not have, Muon, which iterates in bf16 there, LBFGS,
// whose pairs are others, and SparseAdam.
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
  // What the optimizer calls its parameters, in the order of PyTorch's, which numbers them through
  // all groups: the names of module.named_parameters(), or "0", "1", ... of an optimizer that was
  // given parameters() without names, which in loading is what empty means.
  std::vector<std::string> parameters = {};
  // How many of them each group has, in saving; empty: one group has all.
  std::vector<int64_t> groups = {};
  // In loading: where in the file the state dict is, "optimizer" of {"optimizer": ...}.
  std::string part = {};
  LoadLimits limits = {};
};

// The state dict that goes on from the file: the states there, and the options ("groups.0.lr", ...)
// of `optimizer`, the state dict that Firn's optimizer has now, of which those that the file has
// are the file's. What Firn alone has stays. SGD's velocity counts as one of a second step. Throws
// firn::Error: DataLoss, naming file and entry, for what is no state dict of an optimizer, numbers
// a parameter that `parameters` does not name, or has another number of groups; Unimplemented for
// `maximize`; what LoadTorch says.
StateDict LoadTorchOptimizer(const std::string& path, const StateDict& optimizer,
                             const TorchOptimizerOptions& options = {});

// Writes what torch.optim's load_state_dict takes of torch.load(path, weights_only=True). Throws
// firn::Error: InvalidArgument for states of parameters that `parameters` does not name, `groups`
// that are not as many as the optimizer's or do not add up to all, and Unimplemented for options
// that PyTorch does not have (NNabla's semantics, ...); as SaveTorch.
void SaveTorchOptimizer(const std::string& path, const StateDict& optimizer,
                        const TorchOptimizerOptions& options);

}  // namespace firn::io

#endif  // FIRN_IO_TORCH_TORCH_OPTIMIZER_H_

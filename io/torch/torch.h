#ifndef FIRN_IO_TORCH_TORCH_H_
#define FIRN_IO_TORCH_TORCH_H_

// Tensors in files of PyTorch's torch.save (.pt, .pth, .bin, .ckpt):
//
//   net.LoadStateDict(io::LoadTorch("net.pt"));  // torch.save(net.state_dict(), "net.pt")
//   io::SaveTorch("back.pt", net.state_dict());  // torch.load("back.pt", weights_only=True)

#include <string>

#include "firn/io/load_options.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

// Options for reading a file. A plain value.
struct TorchOptions {
  // Which entries are read, and the limits. Entries that are not wanted are not read.
  LoadOptions load = {};
  // Elements of types that Firn does not have become a wider one that holds all their values: i16
  // and u16 i32, u32 and u64 i64, and the 8-bit floats f32. Otherwise they are an error.
  bool widen = false;
  // Numbers and flags outside of tensors are entries, too: f64, 0-d, as "param_groups.0.lr" of an
  // optimizer. Otherwise they are left out.
  bool numbers = false;
};

// The tensors of a file of torch.save, of PyTorch 1.6 and later (a ZIP) or before, on the host:
// those of dicts in dicts, lists and tuples by the path to them, as "model.fc.weight" or
// "optimizer.state.0.exp_avg", in the order of the file. Texts are left out, and so are numbers
// unless they are asked for. Tensors that share elements do so here, too. The pickle is read as
// data: no class is looked up and nothing is called, whatever the file says. Throws firn::Error:
// DataLoss for a damaged file; Unimplemented for sparse and quantized tensors, for those inside
// objects of other classes (a whole module that was saved; its state dict is what to save), for
// views that repeat elements, for TorchScript and types that Firn does not have, naming file and
// entry; ResourceExhausted beyond the limits, which are checked before memory is taken.
StateDict LoadTorch(const std::string& path, const TorchOptions& options = {});

// Writes a dict of tensors that torch.load(path, weights_only=True) gives back, in the order of
// `state`. Replaces the file as a whole; equal dicts give equal files. Throws firn::Error:
// InvalidArgument for an undefined tensor, and names that are no UTF-8; those of the system for the
// path. The old file is then as it was.
void SaveTorch(const std::string& path, const StateDict& state);

}  // namespace firn::io

#endif  // FIRN_IO_TORCH_TORCH_H_

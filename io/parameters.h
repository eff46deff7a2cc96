#ifndef FIRN_IO_PARAMETERS_H_
#define FIRN_IO_PARAMETERS_H_

// Saving and loading in one line:
//
//   io::Save("net.safetensors", net.state_dict());
//   net.LoadStateDict(io::Load("net.safetensors"));

#include <string>

#include "firn/io/load_options.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

// Writes the tensors to a file whose format the end of its name tells: .safetensors or none at all
// (io/safetensors/safetensors.h), .pt and .pth, which PyTorch reads (io/torch/torch.h), .h5 and
// .hdf5 (io/hdf5/hdf5.h), .npz and, for one tensor, .npy (io/npy/npy.h), those of formats that the
// program registers (io/formats/formats.h), and with //:firn, or //io/formats:networks, an .nnp of
// parameters alone, or NNabla's .protobuf. Throws firn::Error, which lists them; what was at
// `path` before is then unharmed.
void Save(const std::string& path, const StateDict& state);

// Reads such a file, under any name if its first bytes tell the format; also .bin and .ckpt of
// PyTorch, an index of safetensors files (.json), and the states of a graph (.firn); with //:firn,
// or //io/formats:networks, the weights of .onnx, .nnp, .nntxt and .protobuf, too. The array of a
// .npy file is called "array". Elements are read at once, and only types that Firn has:
// LoadSafetensors and LoadTorch have options for both. Throws firn::Error, naming the file.
StateDict Load(const std::string& path, const LoadOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_PARAMETERS_H_

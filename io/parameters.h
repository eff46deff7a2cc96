#ifndef FIRN_IO_PARAMETERS_H_
#define FIRN_IO_PARAMETERS_H_

// Saving and loading in one line:
//
//   io::Save("net.h5", net.state_dict());
//   net.LoadStateDict(io::Load("net.h5"));

#include <string>

#include "firn/io/load_options.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

// Writes the tensors to a file whose format the end of its name tells: .h5 or .hdf5 (io/hdf5.h).
// Throws firn::Error; what was at `path` before is then unharmed.
void Save(const std::string& path, const StateDict& state);

// Reads such a file. Throws firn::Error, naming the file.
StateDict Load(const std::string& path, const LoadOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_PARAMETERS_H_

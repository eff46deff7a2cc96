#ifndef FIRN_IO_HDF5_HDF5_H_
#define FIRN_IO_HDF5_HDF5_H_

// Parameters in HDF5 files, laid out as NNabla does: one dataset per tensor, with attributes
// `index` (its place in the order) and `need_grad` (Tensor::requires_grad). The entry
// "layer1.conv1.weight" is the dataset /layer1/conv1/weight; docs/decisions/files.md says how
// unusual names are mapped.
//
//   io::SaveHdf5("net.h5", net.state_dict());
//   net.LoadStateDict(io::LoadHdf5("net.h5"));

#include <string>

#include "firn/io/load_options.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

// Writes the tensors to `path`, replacing the file that is there once the new one is safely on the
// disk: whatever happens, one of the two is there whole. Equal dicts give equal files. Writing
// takes as much memory again as the tensors have. Throws firn::Error: InvalidArgument for an
// undefined tensor; ResourceExhausted for a full disk; NotFound, PermissionDenied and the like,
// naming the path. The old file is then as it was, with one exception: if only the last step, the
// sync of the folder, fails, the error says so; the new file is then in place, but a power cut may
// bring the old one back.
void SaveHdf5(const std::string& path, const StateDict& state);

// Reads a file of SaveHdf5, of NNabla's save_parameters and save_states (".h5"), and of others
// that hold datasets of numbers in groups, as h5py writes them with any `libver`, behind a user
// block or not. All dtypes of Firn keep theirs; 16-bit integers become i32, u32 and u64 i64.
// requires_grad is set as need_grad says. Elements that were never written are the dataset's fill
// value. Several names of one dataset, by hard and soft links, are entries that share a tensor;
// committed datatypes are no entries. The file may come from anywhere: sizes are checked against
// the file and the limits before memory is taken, and checksums (fletcher32, those of newer
// structures) are verified. External links and links to a group above are always refused; elements
// in other files, virtual datasets, filters but shuffle, deflate and fletcher32, strings,
// references and compounds, and soft links that lead nowhere, are refused unless LoadOptions::want
// leaves out their datasets. Throws firn::Error: DataLoss for a damaged file, Unimplemented for
// refused content, ResourceExhausted beyond the limits, all naming file and dataset; NotFound and
// the like for the path.
StateDict LoadHdf5(const std::string& path, const LoadOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_HDF5_HDF5_H_

#ifndef FIRN_IO_NNABLA_MODEL_NNABLA_FILE_H_
#define FIRN_IO_NNABLA_MODEL_NNABLA_FILE_H_

// Model files of NNabla (nnabla.org):
//
//   io::nnabla::Model model = io::LoadNnabla("lenet.nnp");
//   for (const auto& function : model.networks[0].functions) std::cout << function.type << "\n";
//   io::SaveNnabla("copy.nnp", model);

#include <string>

#include "firn/io/load_options.h"
#include "firn/io/nnabla_model/nnabla_model.h"

namespace firn::io {

// Reads an .nnp (a ZIP of a text, parameters as HDF5 or in messages, and states of solvers), a
// .nntxt or .prototxt (the text alone), or a .protobuf (parameters in messages); an .nnp is told by
// its first bytes, the others by their names. It is read as data: data sets are not opened, no name
// in it becomes a path, and nothing is run. `options.want` chooses parameters. Refused are, in
// addition to what NNabla refuses: single fields that come twice, two texts in an .nnp, arguments
// that are another function's, parameters, networks and variables of one name, and networks in
// .protobuf, whose numbers mean something else in each release of NNabla. Throws firn::Error:
// DataLoss for a damaged file as "<file>: line 3, column 5, network.name: expected ..., got ...",
// or with an offset in place of the line; Unimplemented for contents that are not read;
// ResourceExhausted beyond the limits; NotFound and the like for a path.
nnabla::Model LoadNnabla(const std::string& path, const LoadOptions& options = {});

// Writes an .nnp that NNabla 1.39 loads: network.nntxt, parameter.h5 and, for optimizers with
// states, the files of those; or an .nntxt, the text alone, without parameters and states; or a
// .protobuf, parameters alone, as nnabla.load_parameters reads them: all are f32 there (f16 and
// bf16 become that), and networks have other numbers in each release of NNabla. Replaces the file
// as a whole; equal models give equal files. Throws firn::Error: InvalidArgument for arguments that
// a function's type does not have, names that are no UTF-8, parameters whose names NNabla would not
// find, in a .protobuf parameters of other types and more than 2 GB, and in an .nnp more than 4 GB;
// those of the system for the path. The old file is then as it was.
void SaveNnabla(const std::string& path, const nnabla::Model& model);

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_MODEL_NNABLA_FILE_H_

#ifndef FIRN_IO_NNABLA_MODEL_NNB_FILE_H_
#define FIRN_IO_NNABLA_MODEL_NNB_FILE_H_

// Networks for NNabla's C runtime (github.com/sony/nnabla-c-runtime):
//
//   io::SaveNnb("lenet.nnb", io::LoadNnabla("lenet.nnp"));

#include <cstdint>
#include <string>

#include "firn/io/nnabla_model/nnabla_model.h"

namespace firn::io {

struct SaveNnbOptions {
  std::string executor = {};  // whose inputs and outputs the file has; "": the first
  int64_t batch_size = 0;     // in the place of -1; 0: what the network says
};

// Writes the network of an executor with its parameters as a file of version 2 and API level 45,
// all of it in f32, as NNabla 1.39's converter does. Variables share buffers where their lives do
// not overlap. Binary weights are written as the model has them, from the last time that NNabla
// computed them. Replaces the file as a whole. Throws firn::Error: Unimplemented with all functions
// that the C runtime does not have, generators, and affine and binary functions whose weights are
// computed; InvalidArgument for loops that are not unrolled (nnabla::Expand), for names that the
// network uses but does not have, and for more than 4 GB; NotFound for the executor; those of the
// system for the path.
void SaveNnb(const std::string& path, const nnabla::Model& model,
             const SaveNnbOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_MODEL_NNB_FILE_H_

#ifndef FIRN_IO_NNABLA_NETWORK_NNABLA_NETWORK_H_
#define FIRN_IO_NNABLA_NETWORK_NNABLA_NETWORK_H_

// Networks in NNabla's model files (nnabla.org):
//
//   io::NnablaImport model = io::ImportNnabla("lenet.nnp", {.batch_size = 1});
//   Tensor scores = model.executors[0].network(images);
//
// A network is a function of tensors like any other: Freeze compiles it, and Capture gives a graph
// that is saved, quantized or edited.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/autograd/network/network.h"
#include "firn/io/load_options.h"
#include "firn/io/nnabla_model/nnabla_expand.h"
#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

struct NnablaImportOptions {
  LoadLimits limits = {};
  // The batch of all networks; 0: what each says; nnabla::kOpenBatch: any, found in each call,
  // where the file has -1 in front of shapes.
  int64_t batch_size = 0;
  nnabla::ExpandOptions expand = {};  // limits of loops; its batch_size is ignored
};

// A network, or the part of one that an executor uses. Inputs and outputs have the names of
// NNabla's variables, as network.inputs() and network.outputs() tell.
struct NnablaPart {
  std::string name;
  std::string network_name;
  Network network;
};

struct NnablaImport {
  // Inputs are the buffers that functions take and none makes, outputs those that functions make
  // and none takes, in the file's order.
  std::vector<NnablaPart> networks;
  // Inputs and outputs are the executor's data and output variables; variables of its generators
  // are drawn in each call.
  std::vector<NnablaPart> executors;
  // The parameters of all, by nnabla::ParameterName; requires_grad is need_grad. Networks share
  // these tensors.
  StateDict state;
  // Notes for a reader, such as parameters that no network has.
  std::vector<std::string> report;
};

// Reads a file as LoadNnabla does and makes networks of it: loops are unrolled (nnabla::Expand),
// and each function is what NNabla 1.39 computes. Elements are f32; labels and indices may be
// integers. docs/nnabla.md says which functions there are.
//
// Throws firn::Error, naming file, network and function: what LoadNnabla and nnabla::Expand throw;
// Unimplemented for functions that are not supported, those of all networks at once (of many of one
// type three are named and the others counted), before anything is computed; InvalidArgument for
// parameters that are not there, all of them, or of other shapes than the network says. Shapes that
// do not fit are refused at the first call.
NnablaImport ImportNnabla(const std::string& path, const NnablaImportOptions& options = {});

// The same of a file that was read; `source` stands for it in messages.
NnablaImport ImportNnablaModel(const nnabla::Model& model, const std::string& source,
                               const NnablaImportOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_NETWORK_NNABLA_NETWORK_H_

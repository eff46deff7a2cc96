#ifndef FIRN_IO_NNABLA_TRAINING_NNABLA_INITIAL_H_
#define FIRN_IO_NNABLA_TRAINING_NNABLA_INITIAL_H_

#include <string>

#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/io/nnabla_network/nnabla_network.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

// The parameters with which NNabla begins a training: those of all networks of the file, by
// nnabla::ParameterName, as their initializers draw them from numpy.random.RandomState(0), in the
// order in which NNabla 1.39 comes upon them. The file's own parameters are ignored, but entries of
// `given` replace the drawn parameters of their names; its other entries are left out. All are f32.
//
// Throws firn::Error naming file, network and variable: what nnabla::Expand throws; InvalidArgument
// for parameters with neither an initializer nor an entry in `given`, for initializers that NNabla
// does not have, for shapes that they cannot fill, and entries of other shapes; ResourceExhausted
// beyond the limits, before anything is drawn.
StateDict InitialNnablaParameters(const nnabla::Model& model, const std::string& source,
                                  const StateDict& given = {},
                                  const NnablaImportOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_TRAINING_NNABLA_INITIAL_H_

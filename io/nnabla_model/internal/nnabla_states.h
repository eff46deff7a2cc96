#ifndef FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_STATES_H_
#define FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_STATES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/tensor/shape.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// The shape of a message, if it has as many elements as there are `data`. DataLoss or Unimplemented
// otherwise, naming the field.
absl::StatusOr<Shape> CheckNnablaShape(const std::vector<int64_t>& sizes, size_t data);

// Checks a solver's states from messages, and names parameters as the model does. `name` is the
// file's.
absl::Status CheckSolverStates(nnabla::Solver* solver, const std::string& name,
                               const std::string& optimizer);

// The states in an HDF5 file of NNabla's, which has been read.
absl::StatusOr<std::vector<nnabla::SolverState>> StatesOf(const StateDict& state,
                                                          const std::string& name);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_STATES_H_
